"""Soft labels from their definitions: one row at a time, with scipy's distributions."""

import functools
import math

import numpy as np
from scipy import stats

from reference.basics import Answers, log_softmax, mean, mode
from reference.constraints import barrier, gaps


def soft(target):
    """The answers of the divergence from the target of a label."""
    target = functools.cache(target)

    def answers(scores, label, parameters=None):
        log_probs = log_softmax(scores)
        return Answers(divergence(target(label, len(scores)), log_probs), log_probs, mode(log_probs))

    return answers


def divergence(target, log_probs):
    return sum(q * (math.log(q) - log_p) for q, log_p in zip(target, log_probs, strict=True) if q > 0)


def normalised(weights):
    return [weight / math.fsum(weights) for weight in weights]


def sord(label, num_classes):
    return normalised([math.exp(-((k - label) ** 2)) for k in range(num_classes)])


def exponential(label, num_classes, *, power=1.0, temperature=1.0):
    return normalised([math.exp(-(abs(k - label) ** power) / temperature) for k in range(num_classes)])


def geometric(label, num_classes, *, smoothing=0.1):
    others = normalised([smoothing ** abs(k - label) if k != label else 0.0 for k in range(num_classes)])
    return [1 - smoothing if k == label else smoothing * other for k, other in enumerate(others)]


def inverse_distance(label, num_classes, *, smoothing=0.1):
    others = normalised([1 / abs(k - label) if k != label else 0.0 for k in range(num_classes)])
    return [1 - smoothing if k == label else smoothing * other for k, other in enumerate(others)]


def triangular(label, num_classes, *, outside=0.01):
    """Scipy's triangular distribution over the interval of the label, with feet that leave `outside` on each side."""
    if 0 < label < num_classes - 1:
        half = 0.5 / (1 - math.sqrt(2 * outside))
        law = stats.triang(0.5, loc=label + 0.5 - half, scale=2 * half)
    elif label == 0:
        law = stats.triang(0.0, loc=0.0, scale=1 / (1 - math.sqrt(outside)))
    else:
        width = 1 / (1 - math.sqrt(outside))
        law = stats.triang(1.0, loc=num_classes - width, scale=width)
    return normalised([law.cdf(k + 1) - law.cdf(k) for k in range(num_classes)])


def beta(label, num_classes, *, deviation=0.5, points=16):
    middle = (label + 0.5) / num_classes
    total = max(middle * (1 - middle) / (deviation / num_classes) ** 2 - 1, 1 / middle, 1 / (1 - middle))
    law = stats.beta(middle * total, (1 - middle) * total)
    places = (np.arange(num_classes * points) + 0.5) / (num_classes * points)
    sums = law.pdf(places).reshape(num_classes, points).sum(axis=1)
    return normalised(sums)


def binomial(label, num_classes):
    return list(stats.binom.pmf(np.arange(num_classes), num_classes - 1, (label + 0.5) / num_classes))


def poisson(label, num_classes):
    return normalised(list(stats.poisson.pmf(np.arange(num_classes), label + 0.5)))


def dldl_v2(scores, label, parameters=None, *, variance=1.0, mean_weight=1.0):
    log_probs = log_softmax(scores)
    target = normalised([math.exp(-((k - label) ** 2) / (2 * variance)) for k in range(len(scores))])
    average = sum(k * math.exp(log_p) for k, log_p in enumerate(log_probs))
    return Answers(divergence(target, log_probs) + mean_weight * abs(average - label), log_probs, mean(log_probs))


def noise_corrected(scores, label, parameters=None, *, rate=0.1):
    """The row of the label in the inverse of the noise, by numpy."""
    size = len(scores)
    noise = np.zeros((size, size))
    for true in range(size):
        for given in (true - 1, true + 1):
            noise[true, given if 0 <= given < size else true] += rate / 2
        noise[true, true] += 1 - rate
    log_probs = log_softmax(scores)
    shares = np.linalg.solve(noise.T, np.eye(size)[label])
    return Answers(-float(shares @ log_probs), log_probs, mode(log_probs))


def orcu(scores, label, parameters=None, *, t=10.0):
    own = soft(sord)(scores, label)
    return Answers(own.loss + sum(barrier(gap, t) for gap in gaps(scores, label)), own.log_probs, own.predicted)


METHODS = {
    "dldl-v2": dldl_v2,
    "sord": soft(sord),
    "soft-exponential": soft(exponential),
    "soft-geometric": soft(geometric),
    "soft-inverse": soft(inverse_distance),
    "soft-triangular": soft(triangular),
    "soft-beta": soft(beta),
    "soft-binomial": soft(binomial),
    "soft-poisson": soft(poisson),
    "noise-corrected": noise_corrected,
    "orcu": orcu,
}
