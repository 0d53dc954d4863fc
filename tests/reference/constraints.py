"""The paper's constraints from their definitions: slow, obvious, float64, and nothing of onepeak."""

import math

import numpy as np


def gaps(scores, label):
    """Belharbi et al. 2019, eq. 2 and 5, one pair at a time."""
    found = []
    for k in range(len(scores) - 1):
        found.append(scores[k] - scores[k + 1] if k < label else scores[k + 1] - scores[k])
    return np.array(found, dtype=np.float64)


def barrier(r, t):
    """Belharbi et al. 2019, eq. 7, branch by branch."""
    if r <= -1 / t**2:
        return -math.log(-r) / t
    return t * r - math.log(1 / t**2) / t + 1 / t


def penalty(delta, slack):
    """Belharbi et al. 2019, the H of eq. 3."""
    return (delta + slack) ** 2 if delta >= 0 else 0.0


def cross_entropy(scores, label):
    top = max(scores)
    return top + math.log(sum(math.exp(s - top) for s in scores)) - scores[label]


def elb(scores, labels, t):
    """One loss a sample."""
    return np.array(
        [cross_entropy(s, y) + sum(barrier(r, t) for r in gaps(s, y)) for s, y in zip(scores, labels, strict=True)]
    )


def pn(scores, labels, weight, slack):
    """One loss a sample."""
    return np.array(
        [
            cross_entropy(s, y) + weight * sum(penalty(d, slack) for d in gaps(s, y))
            for s, y in zip(scores, labels, strict=True)
        ]
    )
