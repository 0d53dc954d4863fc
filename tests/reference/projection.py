"""One-peaked rows the slow way, with scipy's solvers; imports nothing from onepeak."""

import numpy as np
from scipy.optimize import isotonic_regression, nnls


def distance_between(probs, fit, distance="squared"):
    if distance == "squared":
        return float(np.square(probs - fit).sum())
    where = probs > 0
    return float((probs[where] * np.log(probs[where] / fit[where])).sum())


def fits_at_every_cut(probs):
    """For each cut the best rise before it joined to the best fall after it."""
    return [
        np.concatenate([isotonic_regression(probs[:cut]).x, isotonic_regression(probs[cut:], increasing=False).x])
        for cut in range(1, len(probs))
    ]


def nearest(probs, distance="squared"):
    """The nearest row with one peak anywhere, and how far it is."""
    fits = fits_at_every_cut(probs)
    distances = [distance_between(probs, fit, distance) for fit in fits]
    best = int(np.argmin(distances))
    return fits[best], distances[best]


def nearest_with_peak_at(probs, mode):
    """By a quadratic program: rows with their peak at `mode` are what one gets by piling up intervals around it."""
    places = np.arange(len(probs))
    intervals = [(low <= places) & (places <= high) for low in range(mode + 1) for high in range(mode, len(probs))]
    intervals = np.array(intervals, dtype=float).T
    return intervals @ nnls(intervals, probs, maxiter=100 * intervals.shape[1])[0]
