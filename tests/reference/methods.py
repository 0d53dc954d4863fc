"""Every method from its definition: slow, obvious, float64, one sample at a time.

`corrected` is what the cited paper means, `as_published` what the code behind Belharbi et al. 2019 computes.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np

from reference.constraints import barrier, gaps, penalty


@dataclass(frozen=True)
class Answers:
    """What a method says of one sample: a loss for the label, a posterior, a predicted label."""

    loss: float
    log_probs: np.ndarray
    predicted: int


def answers(name, outputs, label, *, variant="corrected", rate_weight=None, rate_bias=0.0):
    """The answers of a method at its default settings; `name` may carry a constraint, as in "mv+elb".

    `rate_weight` and `rate_bias` are the linear layer of PO.
    """
    base, _, constraint = name.partition("+")
    outputs = np.asarray(outputs, dtype=np.float64)
    rate = None if rate_weight is None else softplus(float(np.dot(rate_weight, outputs)) + rate_bias)
    own = METHODS[base](outputs, label, variant == "as_published", rate)
    if not constraint:
        return own
    cost = COSTS[constraint](class_scores(base, outputs, variant == "as_published", rate), label)
    return Answers(own.loss + cost, own.log_probs, own.predicted)


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


def penalised(scores, label, published=False, rate=None):
    own = cross_entropy(scores, label)
    return Answers(own.loss + penalty_cost(scores, label), own.log_probs, own.predicted)


def barred(scores, label, published=False, rate=None):
    own = cross_entropy(scores, label)
    return Answers(own.loss + barrier_cost(scores, label), own.log_probs, own.predicted)


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


METHODS = {
    "ce": cross_entropy,
    "ren": reencode,
    "ld": label_distribution,
    "mv": mean_variance,
    "po": poisson,
    "pn": penalised,
    "elb": barred,
    "slopes": slopes,
}


def class_scores(base, outputs, published, rate):
    if base == "po":
        return poisson_scores(rate, len(outputs), published)
    return running_sum(outputs) if base == "slopes" else outputs


def barrier_cost(scores, label, t=1.0):
    return sum(barrier(gap, t) for gap in gaps(scores, label))


def penalty_cost(scores, label, weight=1e-2, slack=0.1):
    return weight * sum(penalty(gap, slack) for gap in gaps(scores, label))


COSTS = {"elb": barrier_cost, "pn": penalty_cost}


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


def level_differences(logits, smallest_step=1e-12):
    """P(k) = level k - level k + 1, for levels made to fall, with 60 digits: float64 has none left at a logit of 40.

    Equal levels leave nothing to the class between them; their logits are taken `smallest_step` apart.
    """
    with localcontext() as context:
        context.prec = 60 + int(max(abs(logit) for logit in logits))
        lowest, falling = Decimal("Infinity"), []
        for logit in logits:
            lowest = min(lowest, Decimal(float(logit)))
            falling.append(lowest)
        masses = []
        for upper, lower in zip([Decimal("Infinity"), *falling], [*falling, Decimal("-Infinity")], strict=True):
            apart = lower - Decimal(smallest_step) if upper == lower else lower
            masses.append(_exact_sigmoid(upper) - _exact_sigmoid(apart))
        return np.array([float((mass / sum(masses)).ln()) for mass in masses])


def _exact_sigmoid(logit):
    if logit.is_infinite():
        return Decimal(1 if logit > 0 else 0)
    return 1 / (1 + (-logit).exp())


def running_sum(slopes):
    scores = [0.0]
    for slope in slopes:
        scores.append(scores[-1] + slope)
    return np.array(scores)


def log_softmax(scores):
    greatest = max(scores)
    total = math.log(sum(math.exp(score - greatest) for score in scores))
    return np.array([score - greatest - total for score in scores])


def mode(log_probs):
    return max(range(len(log_probs)), key=lambda k: (log_probs[k], -k))


def softplus(x):
    return math.log1p(math.exp(x)) if x < 0 else x + math.log1p(math.exp(-x))


def sigmoid(x):
    return math.exp(log_sigmoid(x))


def log_sigmoid(x):
    return -softplus(-x)
