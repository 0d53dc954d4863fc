"""Posteriors of a given form, from their definitions."""

import math

import numpy as np
from scipy import stats

from reference.basics import Answers, log_softmax, mode, softplus
from reference.levels import conditional

SMALLEST_STEP = 0.01


def likelihood(log_probs, label):
    return Answers(-log_probs[label], log_probs, mode(log_probs))


def binomial(outputs, label, parameters, *, num_classes):
    chance = 1 / (1 + math.exp(-outputs[0]))
    scores = stats.binom.logpmf(np.arange(num_classes), num_classes - 1, chance)
    return likelihood(log_softmax(scores / math.exp(parameters["log_temperature"])), label)


def poisson(outputs, label, parameters, *, num_classes):
    scores = stats.poisson.logpmf(np.arange(num_classes), softplus(outputs[0]))
    return likelihood(log_softmax(scores / math.exp(parameters["log_temperature"])), label)


def stick_breaking(outputs, label, parameters=None, *, num_classes):
    return likelihood(conditional([-output for output in outputs]), label)


def gaussian(outputs, label, parameters=None, *, num_classes=2, variance_weight=0.1):
    mean, deviation = (outputs[0] + 1) * (num_classes - 1) / 2, min(max(softplus(outputs[1]), 0.05), num_classes)
    own = likelihood(log_softmax(stats.norm.logpdf(np.arange(num_classes), mean, deviation)), label)
    return Answers(own.loss + variance_weight * deviation**2, own.log_probs, own.predicted)


def copoc(outputs, label, parameters=None):
    places = [outputs[0] - (len(outputs) - 1) / 2]
    for output in outputs[1:]:
        places.append(places[-1] + abs(1 + output) + SMALLEST_STEP)
    return likelihood(log_softmax([-abs(place) for place in places]), label)


def unimodal_net(outputs, label, parameters=None):
    steps = [(output + math.sqrt(output**2 + 4)) / 2 + SMALLEST_STEP for output in outputs]
    scores = [min(math.fsum(steps[: k + 1]), math.fsum(steps[k:])) for k in range(len(steps))]
    return likelihood(log_softmax(scores), label)


def truncated_normal(outputs, label, parameters=None, *, num_classes=2, deviation=1.0):
    """Intervals of scipy's truncated normal, each in the tail where it loses no digit."""
    mean = (outputs[0] + 1) * (num_classes - 1) / 2
    masses = []
    for k in range(num_classes):
        lower, upper = (k - 0.5 - mean) / deviation, (k + 0.5 - mean) / deviation
        if lower + upper > 0:
            lower, upper = -upper, -lower
        high, low = stats.norm.logcdf(upper), stats.norm.logcdf(lower)
        masses.append(high + math.log(-math.expm1(low - high)))
    log_probs = log_softmax(masses)
    loss = sum(math.exp(log_p) * abs(k - label) for k, log_p in enumerate(log_probs))
    return Answers(loss, log_probs, mode(log_probs))


METHODS = {
    "binomial": binomial,
    "poisson": poisson,
    "stick-breaking": stick_breaking,
    "gaussian": gaussian,
    "ot-normal": truncated_normal,
    "copoc": copoc,
    "unimodal-net": unimodal_net,
}
