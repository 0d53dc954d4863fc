"""Losses that know how far each class lies from the label, from their definitions."""

import math

from reference.basics import Answers, log_softmax, median


def rps(scores, label, parameters=None, *, weight=1.0, cross_entropy_weight=0.0):
    log_probs = log_softmax(scores)
    score = 0.0
    for k in range(len(scores) - 1):
        below = sum(math.exp(log_p) for log_p in log_probs[: k + 1])
        score += (below - (1.0 if label <= k else 0.0)) ** 2
    return Answers(weight * score - cross_entropy_weight * log_probs[label], log_probs, median(log_probs))


METHODS = {"rps": rps}
