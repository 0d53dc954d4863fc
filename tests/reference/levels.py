"""Methods that ask whether the label is above each level, from their definitions."""

import itertools
import math
from decimal import Decimal, localcontext

import mpmath
import numpy as np
from scipy import stats

from reference.basics import Answers, level_differences, log_sigmoid, log_softmax, median, mode, sigmoid


def level_loss(logits, label):
    return -sum(log_sigmoid(logit) if label > k else log_sigmoid(-logit) for k, logit in enumerate(logits))


def or_cnn(outputs, label, parameters=None, *, num_classes):
    log_probs = level_differences(outputs)
    return Answers(level_loss(outputs, label), log_probs, median(log_probs))


def frank_hall(outputs, label, parameters=None, *, num_classes):
    log_probs = level_differences(outputs)
    return Answers(level_loss(outputs, label), log_probs, mode(log_probs))


def coral(outputs, label, parameters, *, num_classes):
    logits = [outputs[0] + bias for bias in parameters["biases"]]
    log_probs = level_differences(logits)
    return Answers(level_loss(logits, label), log_probs, median(log_probs))


def conditional(outputs):
    """Whoever takes every step before k, and not that one."""
    log_probs, taken = [], 0.0
    for output in outputs:
        log_probs.append(taken + log_sigmoid(-output))
        taken += log_sigmoid(output)
    return np.array([*log_probs, taken])


def corn(outputs, label, parameters=None, *, num_classes):
    log_probs = conditional(outputs)
    asked = [(k, output) for k, output in enumerate(outputs) if label >= k]
    loss = -sum(log_sigmoid(output) if label > k else log_sigmoid(-output) for k, output in asked)
    return Answers(loss, log_probs, median(log_probs))


def condor(outputs, label, parameters=None, *, num_classes):
    log_probs = conditional(outputs)
    loss = 0.0
    for k in range(num_classes - 1):
        masses = log_probs[k + 1 :] if label > k else log_probs[: k + 1]
        loss -= max(masses) + math.log(math.fsum(math.exp(mass - max(masses)) for mass in masses))
    return Answers(loss, log_probs, median(log_probs))


def ecoc(outputs, label, parameters=None, *, num_classes):
    codes = [[1.0 if j < k else 0.0 for j in range(num_classes - 1)] for k in range(num_classes)]
    squared = [sum((sigmoid(o) - digit) ** 2 for o, digit in zip(outputs, code, strict=True)) for code in codes]
    log_probs = log_softmax([-distance for distance in squared])
    return Answers(squared[label], log_probs, mode(log_probs))


def cumulative(log_masses):
    def answers(outputs, label, parameters, *, num_classes):
        thresholds = [parameters["first"]]
        for log_gap in parameters["log_gaps"]:
            thresholds.append(thresholds[-1] + math.exp(log_gap))
        log_probs = np.array(log_masses([threshold - outputs[0] for threshold in thresholds]))
        return Answers(-log_probs[label], log_probs, mode(log_probs))

    return answers


def logit_masses(places):
    return level_differences([-place for place in places])


def probit_masses(places):
    """Differences of scipy's normal distribution, on the side where they lose no digit."""
    edges = [-math.inf, *places, math.inf]
    masses = []
    for lower, upper in itertools.pairwise(edges):
        if lower + upper > 0:
            lower, upper = -upper, -lower
        masses.append(math.log(stats.norm.cdf(upper) - stats.norm.cdf(lower)))
    return masses


def cloglog_masses(places):
    """F = 1 - exp(-exp(x)) with as many digits as it takes; the inner exponential is a straight line beyond 10."""
    with localcontext() as context:
        context.prec = 60

        def inner(x):
            return Decimal(x).exp() if x <= 10 else Decimal(10).exp() * (1 + Decimal(x) - 10)

        edges = [Decimal(0), *(inner(place) for place in places)]
        masses = []
        for lower, upper in itertools.pairwise(edges):
            difference = upper - lower
            rest = 1 - (-difference).exp() if difference < 100 else Decimal(1)
            masses.append(float(rest.ln() - lower))
        return [*masses, float(-edges[-1])]


def loglog_masses(places):
    return cloglog_masses([-place for place in reversed(places)])[::-1]


def cauchit_masses(places):
    """Differences of arctangents, with as many digits as mpmath is told."""
    with mpmath.workdps(60):
        edges = [mpmath.mpf(0), *(mpmath.atan(place) / mpmath.pi + 0.5 for place in places), mpmath.mpf(1)]
        return [float(mpmath.log(upper - lower)) for lower, upper in itertools.pairwise(edges)]


def threshold_hinge(which):
    def answers(outputs, label, parameters, *, num_classes, margin=1.0):
        thresholds = [parameters["line.first"]]
        for log_gap in parameters["line.log_gaps"]:
            thresholds.append(thresholds[-1] + math.exp(log_gap))
        places = [threshold - outputs[0] for threshold in thresholds]
        hinges = [max(0.0, margin + place if label > k else margin - place) for k, place in enumerate(places)]
        loss = sum(hinge for k, hinge in enumerate(hinges) if which == "all" or k in (label - 1, label))
        log_probs = np.array(logit_masses(places))
        return Answers(loss, log_probs, median(log_probs))

    return answers


METHODS = {
    "clm": cumulative(logit_masses),
    "clm-probit": cumulative(probit_masses),
    "clm-cloglog": cumulative(cloglog_masses),
    "clm-loglog": cumulative(loglog_masses),
    "clm-cauchit": cumulative(cauchit_masses),
    "at-hinge": threshold_hinge("all"),
    "it-hinge": threshold_hinge("immediate"),
    "frank-hall": frank_hall,
    "or-cnn": or_cnn,
    "coral": coral,
    "corn": corn,
    "condor": condor,
    "ecoc": ecoc,
}
