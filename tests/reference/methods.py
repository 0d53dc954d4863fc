"""Every method from its definition: slow, obvious, float64, one sample at a time.

`corrected` is what the cited paper means, `as_published` what the code behind Belharbi et al. 2019 computes.
"""

import math

import numpy as np
from sklearn.isotonic import isotonic_regression

from reference import distance, distribution, levels, soft_labels
from reference.basics import (
    Answers,
    level_differences,
    log_sigmoid,
    log_softmax,
    mode,
    running_sum,
    sigmoid,
    softplus,
)
from reference.constraints import barrier, gaps, penalty


def answers(name, outputs, label, *, num_classes, variant="corrected", parameters=None):
    """The answers of a method at its default settings; `name` may carry a constraint, as in "mv+elb".

    `parameters` are the method's own by name, as lists.
    """
    base, _, constraint = name.partition("+")
    outputs = np.asarray(outputs, dtype=np.float64)
    if base not in METHODS:
        size = {"num_classes": num_classes} if len(outputs) < num_classes else {}
        own = found(OTHERS, base, NEEDS_ANSWERS)(outputs, label, parameters or {}, **size)
        cost = found(COSTS, constraint, NEEDS_COST)(outputs, label) if constraint else 0.0
        return Answers(own.loss + cost, own.log_probs, own.predicted)
    rate = rate_of(outputs, parameters) if base == "po" else None
    own = METHODS[base](outputs, label, variant == "as_published", rate)
    if not constraint:
        return own
    cost = found(COSTS, constraint, NEEDS_COST)(class_scores(base, outputs, variant == "as_published", rate), label)
    return Answers(own.loss + cost, own.log_probs, own.predicted)


def found(references, name, needed):
    """The reference of that name; where there is none, an error that says what to write."""
    if name not in references:
        raise LookupError(f"{name!r} has no slow reference. {needed}")
    return references[name]


NEEDS_ANSWERS = (
    "Write a function (scores, label, parameters) that gives reference.basics.Answers of one sample, into the file of "
    "its family in tests/reference, and name it in METHODS there. With fewer outputs than classes, it takes "
    "`num_classes` too."
)
NEEDS_COST = "Write a function (scores, label) that gives the cost of one sample, and name it in COSTS of this file."


def rate_of(outputs, parameters):
    """The rate of PO, through the linear layer of its own."""
    weight, bias = parameters["rate_layer.weight"][0], parameters["rate_layer.bias"][0]
    return softplus(float(np.dot(weight, outputs)) + bias)


def cross_entropy(scores, label, published=False, rate=None):
    log_probs = log_softmax(scores)
    return Answers(-log_probs[label], log_probs, mode(log_probs))


def reencode(outputs, label, published, rate=None):
    loss = sum((sigmoid(output) - (1.0 if k <= label else 0.0)) ** 2 for k, output in enumerate(outputs))
    if published:
        predicted = 0
        for k, output in enumerate(outputs):
            if sigmoid(output) < 0.5:
                break
            predicted = k
        return Answers(loss, log_softmax([log_sigmoid(output) for output in outputs]), predicted)
    predicted = 0
    for output in outputs[1:]:  # the first question is always answered yes
        if sigmoid(output) < 0.5:
            break
        predicted += 1
    return Answers(loss, level_differences(outputs[1:]), predicted)


def label_distribution(scores, label, published, rate=None):
    target, log_probs = gaussian_target(label, len(scores), published=published), log_softmax(scores)
    loss = sum(q * (math.log(q) - log_p) for q, log_p in zip(target, log_probs, strict=True) if q > 0)
    return Answers(loss, log_probs, mode(log_probs))


def mean_variance(scores, label, published, rate=None):
    log_probs = log_softmax(scores)
    probs = np.exp(log_probs)
    mean = sum(k * p for k, p in enumerate(probs))
    variance = sum(p * (k - mean) ** 2 for k, p in enumerate(probs))
    loss = -log_probs[label] + 0.2 * 0.5 * (mean - label) ** 2 + 0.05 * variance
    return Answers(loss, log_probs, math.floor(mean) if published else math.floor(mean + 0.5))


def poisson(outputs, label, published, rate):
    log_probs = log_softmax(poisson_scores(rate, len(outputs), published))
    mean = sum(k * math.exp(log_p) for k, log_p in enumerate(log_probs))
    return Answers(-log_probs[label], log_probs, math.floor(mean) if published else math.floor(mean + 0.5))


def under(cost):
    """Cross-entropy and the cost of a constraint."""

    def answers(scores, label, published=False, rate=None):
        own = cross_entropy(scores, label)
        return Answers(own.loss + cost(scores, label), own.log_probs, own.predicted)

    return answers


def slopes(outputs, label, published=False, rate=None, *, levels="squared", weight=0.1):
    own = cross_entropy(running_sum(outputs), label)
    questions = 0.0
    for k, output in enumerate(outputs):
        yes = k < label
        if levels == "squared":
            questions += (sigmoid(output) - yes) ** 2
        else:
            questions -= log_sigmoid(output) if yes else log_sigmoid(-output)
    return Answers(questions + weight * own.loss, own.log_probs, own.predicted)


def averaged(outputs):
    """Each output, and the means over its neighbours at most 1, 2, 4, ... away: the mean of all of these."""
    size, reaches = len(outputs), [0]
    while (following := 2 ** (len(reaches) - 1)) < size:
        reaches.append(following)
    smooth = []
    for k in range(size):
        windows = [[outputs[j] for j in range(size) if abs(j - k) <= reach] for reach in reaches]
        smooth.append(sum(sum(window) / len(window) for window in windows) / len(windows))
    return np.array(smooth)


def smooth_slopes(outputs, label, published=False, rate=None):
    return slopes(averaged(outputs), label)


def peak(outputs, label, published=False, rate=None):
    scores = averaged(outputs)
    own = cross_entropy(scores, label)
    probs = np.exp(own.log_probs)
    levels = sum((math.fsum(probs[: k + 1]) - (label <= k)) ** 2 for k in range(len(probs) - 1))
    return Answers(own.loss + levels + barrier_cost(scores, label, t=3.0), own.log_probs, own.predicted)


def wasserstein(scores, label, published=False, rate=None, *, weight=10.0):
    own = cross_entropy(scores, label)
    probs = np.exp(own.log_probs)
    nearest = nearest_with_peak(probs, label)
    distance = sum(abs(math.fsum(probs[: k + 1]) - math.fsum(nearest[: k + 1])) for k in range(len(probs) - 1))
    return Answers(own.loss + weight * distance, own.log_probs, own.predicted)


OTHERS = {**distance.METHODS, **soft_labels.METHODS, **levels.METHODS, **distribution.METHODS}
"""All others: (outputs, label, parameters)."""


def class_scores(base, outputs, published, rate):
    if base == "po":
        return poisson_scores(rate, len(outputs), published)
    return running_sum(outputs) if base == "slopes" else outputs


def nearest_with_peak(probs, label):
    """The least-squares fit that rises to the label and falls after it.

    The top is the stretch around the label with the highest mean; what is left of it and right of it is a monotone
    regression on its own (scikit-learn's).
    """
    stretches = [(i, j) for i in range(label + 1) for j in range(label + 1, len(probs) + 1)]
    first, end = max(stretches, key=lambda stretch: (probs[slice(*stretch)].mean(), stretch[1] - stretch[0]))
    left = isotonic_regression(probs[:first]) if first > 0 else []
    right = isotonic_regression(probs[end:], increasing=False) if end < len(probs) else []
    return [*left, *[probs[first:end].mean()] * (end - first), *right]


def barrier_cost(scores, label, t=1.0):
    return sum(barrier(gap, t) for gap in gaps(scores, label))


def penalty_cost(scores, label, weight=1e-2, slack=0.1):
    return weight * sum(penalty(gap, slack) for gap in gaps(scores, label))


def hinge_cost(scores, label, weight=1.0, margin=0.1):
    return weight * sum(max(0.0, gap + margin) for gap in gaps(scores, label))


def lagrangian_cost(scores, label, weight=0.1, duals=None):
    duals = [0.0] * (len(scores) - 1) if duals is None else duals
    terms = [
        (max(0.0, dual + weight * gap) ** 2 - dual**2) / (2 * weight)
        for dual, gap in zip(duals, gaps(scores, label), strict=True)
    ]
    return sum(terms)


COSTS = {"elb": barrier_cost, "pn": penalty_cost, "hinge": hinge_cost, "lagrangian": lagrangian_cost}


METHODS = {
    "ce": cross_entropy,
    "ren": reencode,
    "ld": label_distribution,
    "mv": mean_variance,
    "po": poisson,
    "pn": under(penalty_cost),
    "elb": under(barrier_cost),
    "slopes": slopes,
    "peak": peak,
    "smooth-slopes": smooth_slopes,
    "hinge": under(hinge_cost),
    "lagrangian": under(lagrangian_cost),
    "wu": wasserstein,
}
"""The methods of Belharbi et al. 2019, and our own: (outputs, label, published, rate)."""


def gaussian_target(label, num_classes, *, variance=1.0, published=False):
    """A Gaussian around the label; the published code takes the softmax of its density."""
    exponents = [-((k - label) ** 2) / (2 * variance) for k in range(num_classes)]
    if published:
        exponents = [math.exp(exponent) / math.sqrt(2 * math.pi * variance) for exponent in exponents]
    weights = [math.exp(exponent) for exponent in exponents]
    return [weight / sum(weights) for weight in weights]


def poisson_scores(rate, num_classes, published=False):
    scores = np.array([k * math.log(rate) - rate - math.lgamma(k + 1) for k in range(num_classes)])
    return -scores if published else scores
