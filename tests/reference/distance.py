"""Losses that know how far each class lies from the label, from their definitions."""

import math

import numpy as np

from reference.basics import Answers, log_softmax, mean, median, mode
from reference.constraints import gaps


def rps(scores, label, parameters=None, *, weight=1.0, cross_entropy_weight=0.0):
    log_probs = log_softmax(scores)
    score = 0.0
    for k in range(len(scores) - 1):
        below = sum(math.exp(log_p) for log_p in log_probs[: k + 1])
        score += (below - (1.0 if label <= k else 0.0)) ** 2
    return Answers(weight * score - cross_entropy_weight * log_probs[label], log_probs, median(log_probs))


def class_distance(scores, label, parameters=None, *, power=5.0):
    log_probs = log_softmax(scores)
    loss = 0.0
    for k in range(len(scores)):
        others = [math.exp(log_probs[j]) for j in range(len(scores)) if j != k]
        loss -= abs(k - label) ** power * math.log(math.fsum(others))
    return Answers(loss, log_probs, mode(log_probs))


def ordinal_log_loss(scores, label, parameters=None):
    return class_distance(scores, label, power=1.5)


def slace(scores, label, parameters=None, *, sharpness=1.0):
    log_probs = log_softmax(scores)
    weights = [math.exp(-sharpness * abs(k - label)) for k in range(len(scores))]
    loss = 0.0
    for k in range(len(scores)):
        near = [math.exp(log_probs[j]) for j in range(len(scores)) if abs(j - label) <= abs(k - label)]
        loss -= weights[k] / sum(weights) * math.log(math.fsum(near))
    return Answers(loss, log_probs, mode(log_probs))


def co2(scores, label, parameters=None, *, weight=1.0, margin=0.05):
    log_probs = log_softmax(scores)
    loss = -log_probs[label] + weight * hinges(np.exp(log_probs), label, margin)
    return Answers(loss, log_probs, mode(log_probs))


def ho2(scores, label, parameters=None, *, weight=10.0, margin=0.05):
    log_probs = log_softmax(scores)
    entropy = -sum(math.exp(log_p) * log_p for log_p in log_probs)
    return Answers(entropy + weight * hinges(np.exp(log_probs), label, margin), log_probs, mode(log_probs))


def hinges(probs, label, margin):
    return sum(max(0.0, margin + gap) for gap in gaps(probs, label))


def quasi_unimodal(scores, label, parameters=None, *, weight=1.0, margin=0.05):
    log_probs = log_softmax(scores)
    probs = np.exp(log_probs)
    cost = 0.0
    for k in range(len(probs)):
        if k in (label - 1, label + 1):
            cost += max(0.0, margin + probs[k] - probs[label])
        elif k < label:
            cost += max(0.0, margin + probs[k] - probs[label - 1])
        elif k > label:
            cost += max(0.0, margin + probs[k] - probs[label + 1])
    return Answers(-log_probs[label] + weight * cost, log_probs, mode(log_probs))


def unimodal_concentrated(scores, label, parameters=None, *, weight=10.0):
    log_probs = log_softmax(scores)
    probs = np.exp(log_probs)
    average = sum(k * p for k, p in enumerate(probs))
    variance = 1 / 12 + sum(p * (k - average) ** 2 for k, p in enumerate(probs))
    concentrated = math.log(variance) / 2 + (average - label) ** 2 / (2 * variance)
    return Answers(concentrated + weight * hinges(probs, label, 0.0), log_probs, mean(log_probs))


def expected_error(scores, label, parameters=None):
    log_probs = log_softmax(scores)
    average = sum(k * math.exp(log_p) for k, log_p in enumerate(log_probs))
    return Answers((average - label) ** 2, log_probs, mean(log_probs))


def expected_absolute_error(scores, label, parameters=None):
    log_probs = log_softmax(scores)
    loss = sum(math.exp(log_p) * abs(k - label) for k, log_p in enumerate(log_probs))
    return Answers(loss, log_probs, median(log_probs))


def cost_sensitive(scores, label, parameters=None, *, weight=10.0, power=2.0):
    log_probs = log_softmax(scores)
    longest = len(scores) - 1
    cost = sum(math.exp(log_p) * (abs(k - label) / longest) ** power for k, log_p in enumerate(log_probs))
    return Answers(-log_probs[label] + weight * cost, log_probs, mode(log_probs))


def mean_residue(scores, label, parameters=None, *, mean_weight=0.2, residue_weight=0.05):
    log_probs = log_softmax(scores)
    average = sum(k * math.exp(log_p) for k, log_p in enumerate(log_probs))
    residue = -sum(math.exp(log_p) * log_p for log_p in log_probs if log_p < log_probs[label])
    loss = -log_probs[label] + mean_weight / 2 * (average - label) ** 2 + residue_weight * residue
    return Answers(loss, log_probs, mean(log_probs))


def brier(scores, label, parameters=None):
    log_probs = log_softmax(scores)
    errors = [(math.exp(log_p) - (1.0 if k == label else 0.0)) ** 2 for k, log_p in enumerate(log_probs)]
    return Answers(sum(errors) / len(errors), log_probs, mode(log_probs))


def regression(outputs, label, parameters=None, *, num_classes, deviation=1.0):
    (output,) = outputs
    place = (output + 1) * (num_classes - 1) / 2
    target = 2 * label / (num_classes - 1) - 1
    log_probs = log_softmax([-((k - place) ** 2) / (2 * deviation**2) for k in range(num_classes)])
    return Answers((output - target) ** 2, log_probs, mode(log_probs))


def weighted_kappa(scores, labels, *, power=2, weights=None):
    """One minus weighted kappa of a whole batch, by counting."""
    num_classes = len(scores[0])
    probs = [np.exp(log_softmax(row)) for row in scores]
    weights = [1.0] * len(labels) if weights is None else weights
    cost = [[(abs(k - j) / (num_classes - 1)) ** power for j in range(num_classes)] for k in range(num_classes)]
    seen, expected = 0.0, 0.0
    for p, label, weight in zip(probs, labels, weights, strict=True):
        seen += weight * sum(p[k] * cost[k][label] for k in range(num_classes))
        for other_label, other_weight in zip(labels, weights, strict=True):
            expected += weight * other_weight * sum(p[k] * cost[k][other_label] for k in range(num_classes))
    return seen / (expected / sum(weights))


METHODS = {
    "rps": rps,
    "cdw-ce": class_distance,
    "oll": ordinal_log_loss,
    "slace": slace,
    "co2": co2,
    "ho2": ho2,
    "qul": quasi_unimodal,
    "uc": unimodal_concentrated,
    "se": expected_error,
    "eae": expected_absolute_error,
    "cs-ce": cost_sensitive,
    "mean-residue": mean_residue,
    "mce": brier,
    "regression": regression,
}
