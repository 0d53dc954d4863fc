"""Every metric of the catalog from its definition: slow, obvious, float64, one sample and one pair at a time."""

import math

import numpy as np


def values(log_probs, labels, predicted, num_classes, *, num_bins=15):
    """All metrics by catalog key, for log-probabilities (samples x classes), true and predicted labels."""
    log_probs = np.asarray(log_probs, dtype=np.float64)
    labels, predicted = [int(y) for y in labels], [int(y) for y in predicted]
    modes = [max(range(num_classes), key=lambda k: (row[k], -k)) for row in log_probs]
    pairs = list(zip(predicted, labels, strict=True))
    by_class = [
        _mean([abs(p - y) for p, y in pairs if y == k]) for k in range(num_classes) if any(y == k for y in labels)
    ]
    return {
        "mae": _mean([abs(p - y) for p, y in pairs]),
        "accuracy": _mean([p == y for p, y in pairs]),
        "accuracy_within_1": _mean([abs(p - y) <= 1 for p, y in pairs]),
        "amae": _mean(by_class),
        "mmae": max(by_class, default=math.nan),
        "qwk": quadratic_weighted_kappa(predicted, labels),
        "tau": kendall_tau(predicted, labels),
        "spearman": spearman(predicted, labels),
        "soi_predicted": _mean([side_order_index(row, p) for row, p in zip(log_probs, predicted, strict=True)]),
        "soi_true": _mean([side_order_index(row, y) for row, y in zip(log_probs, labels, strict=True)]),
        "violations": _mean(
            [(num_classes - 1) * (1 - side_order_index(row, p)) for row, p in zip(log_probs, predicted, strict=True)]
        ),
        "violation_size": _mean([climb(np.exp(row), p) for row, p in zip(log_probs, predicted, strict=True)]),
        "unimodal": _mean([side_order_index(row, m) == 1 for row, m in zip(log_probs, modes, strict=True)]),
        "nll": _mean([-row[y] for row, y in zip(log_probs, labels, strict=True)]),
        "rps": _mean([ranked_probability_score(np.exp(row), y) for row, y in zip(log_probs, labels, strict=True)]),
        "ece": calibration_error([math.exp(max(row)) for row in log_probs], modes, labels, num_bins),
    }


def side_order_index(scores, reference):
    in_order = 0
    for k in range(len(scores) - 1):
        if k < reference:
            in_order += scores[k] < scores[k + 1]
        else:
            in_order += scores[k] > scores[k + 1]
    return in_order / (len(scores) - 1)


def climb(probs, reference):
    total = 0.0
    for k in range(len(probs) - 1):
        inner, outer = (probs[k + 1], probs[k]) if k < reference else (probs[k], probs[k + 1])
        total += max(0.0, outer - inner)
    return total


def ranked_probability_score(probs, label):
    return sum((sum(probs[: k + 1]) - (label <= k)) ** 2 for k in range(len(probs) - 1))


def quadratic_weighted_kappa(predicted, labels):
    observed = _mean([(p - y) ** 2 for p, y in zip(predicted, labels, strict=True)])
    by_chance = _mean([(p - y) ** 2 for p in predicted for y in labels])
    return 1 - observed / by_chance if by_chance else math.nan


def kendall_tau(predicted, labels):
    surplus = untied_predicted = untied_labels = 0
    for i in range(len(labels)):
        for j in range(i):
            a, b = np.sign(predicted[i] - predicted[j]), np.sign(labels[i] - labels[j])
            surplus += a * b
            untied_predicted += abs(a)
            untied_labels += abs(b)
    bottom = math.sqrt(untied_predicted * untied_labels)
    return surplus / bottom if bottom else math.nan


def spearman(predicted, labels):
    a, b = _ranks(predicted), _ranks(labels)
    a, b = a - a.mean(), b - b.mean()
    bottom = math.sqrt((a * a).sum() * (b * b).sum())
    return (a * b).sum() / bottom if bottom else math.nan


def calibration_error(confidences, modes, labels, num_bins):
    total = 0.0
    for b in range(num_bins):
        inside = [i for i, p in enumerate(confidences) if min(int(p * num_bins), num_bins - 1) == b]
        if inside:
            sure = _mean([confidences[i] for i in inside])
            right = _mean([modes[i] == labels[i] for i in inside])
            total += len(inside) / len(labels) * abs(sure - right)
    return total if labels else math.nan


def _ranks(values):
    return np.array([sum(w < v for w in values) + (1 + sum(w == v for w in values)) / 2 for v in values])


def _mean(numbers):
    return sum(map(float, numbers)) / len(numbers) if len(numbers) else math.nan
