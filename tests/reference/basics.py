"""What the slow references are made of: float64, one sample at a time, nothing from `src`."""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np


@dataclass(frozen=True)
class Answers:
    """What a method says of one sample: a loss for the label, a posterior, a predicted label."""

    loss: float
    log_probs: np.ndarray
    predicted: int


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


def median(log_probs):
    reached = 0.0
    for k, log_p in enumerate(log_probs):
        reached += math.exp(log_p)
        if reached >= 0.5:
            return k
    return len(log_probs) - 1


def mean(log_probs):
    return math.floor(sum(k * math.exp(log_p) for k, log_p in enumerate(log_probs)) + 0.5)


def softplus(x):
    return math.log1p(math.exp(x)) if x < 0 else x + math.log1p(math.exp(-x))


def sigmoid(x):
    return math.exp(log_sigmoid(x))


def log_sigmoid(x):
    return -softplus(-x)
