"""Every metric of the catalog from its definition: slow, obvious, float64, one sample and one pair at a time."""

import functools
import itertools
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
    found = [sensitivity(pairs, k) for k in range(num_classes) if any(y == k for y in labels)]
    return {
        "mae": _mean([abs(p - y) for p, y in pairs]),
        "mae_median": _mean([abs(median(np.exp(row)) - y) for row, y in zip(log_probs, labels, strict=True)]),
        "accuracy": _mean([p == y for p, y in pairs]),
        "accuracy_within_1": _mean([abs(p - y) <= 1 for p, y in pairs]),
        "amae": _mean(by_class),
        "mmae": max(by_class, default=math.nan),
        "qwk": weighted_kappa(predicted, labels, lambda p, y: (p - y) ** 2),
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
        "rmse": math.sqrt(_mean([(p - y) ** 2 for p, y in pairs])),
        "balanced_accuracy": _mean(found),
        "geometric_sensitivity": math.prod(found) ** (1 / len(found)) if found else math.nan,
        "min_sensitivity": min(found, default=math.nan),
        "extreme_sensitivity": (sensitivity(pairs, 0) + sensitivity(pairs, num_classes - 1)) / 2,
        "extreme_geometric_sensitivity": math.sqrt(sensitivity(pairs, 0) * sensitivity(pairs, num_classes - 1)),
        "iba": index_of_balanced_accuracy(pairs, num_classes),
        "kappa": weighted_kappa(predicted, labels, lambda p, y: p != y),
        "lwk": weighted_kappa(predicted, labels, lambda p, y: abs(p - y)),
        "oci": ordinal_classification_index(predicted, labels, num_classes),
        "uoc": uniform_ordinal_classification_index(predicted, labels, num_classes),
        "emd": _mean([earth_mover_distance(np.exp(row), y) for row, y in zip(log_probs, labels, strict=True)]),
        "cem": closeness(predicted, labels, num_classes),
        "sce": _mean([class_calibration_error(log_probs, labels, k, num_bins) for k in range(num_classes)]),
        "accuracy_within_3": _mean([abs(p - y) <= 3 for p, y in pairs]),
        "accuracy_within_5": _mean([abs(p - y) <= 5 for p, y in pairs]),
        "unimodal_weak": _mean([weakly_unimodal(row) for row in log_probs]),
        "unimodal_quasi": _mean([quasi_unimodal(row, m) for row, m in zip(log_probs, modes, strict=True)]),
        "unimodal_two_decimals": _mean([unimodal_in_two_decimals(np.exp(row)) for row in log_probs]),
    }


def median(probs):
    """The first label with at least half of the probability at or below it."""
    return next(k for k in range(len(probs)) if sum(probs[: k + 1]) >= sum(probs[k + 1 :]))


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


def earth_mover_distance(probs, label):
    """Carry what lies left of each threshold over it, as far as it has to go that way."""
    truth = [k == label for k in range(len(probs))]
    moved = carried = 0.0
    for here, wanted in zip(probs, truth, strict=True):
        carried += here - wanted
        moved += abs(carried)
    return moved


def weakly_unimodal(scores):
    return any(
        all(a <= b for a, b in itertools.pairwise(scores[: k + 1]))
        and all(a >= b for a, b in itertools.pairwise(scores[k:]))
        for k in range(len(scores))
    )


def quasi_unimodal(scores, mode):
    return all(scores[k] <= scores[mode - 1] for k in range(mode - 1)) and all(
        scores[k] <= scores[mode + 1] for k in range(mode + 2, len(scores))
    )


def unimodal_in_two_decimals(probs):
    steps = [round(b - a, 2) for a, b in zip([0.0, *probs], [*probs, 0.0], strict=True)]
    signs = [step > 0 for step in steps if step]
    return sum(a != b for a, b in itertools.pairwise(signs)) <= 1


def sensitivity(pairs, k):
    return _mean([p == k for p, y in pairs if y == k])


def index_of_balanced_accuracy(pairs, num_classes, alpha=0.1):
    values = []
    for k in range(num_classes):
        own, others = [p == k for p, y in pairs if y == k], [p != k for p, y in pairs if y != k]
        if own:
            values.append((1 + alpha * (_mean(own) - _mean(others))) * _mean(own) * _mean(others))
    return _mean(values)


def ordinal_classification_index(predicted, labels, num_classes, beta=0.75, gamma=1.0):
    table = np.zeros((num_classes, num_classes))
    for p, y in zip(predicted, labels, strict=True):
        table[y, p] += 1
    return _path_index(table, beta / (num_classes - 1) ** gamma, gamma)


def uniform_ordinal_classification_index(predicted, labels, num_classes, beta=None):
    table = np.zeros((num_classes, num_classes))
    for p, y in zip(predicted, labels, strict=True):
        table[y, p] += 1 / labels.count(y)
    betas = np.linspace(0, 1, 1001) if beta is None else np.array([beta, beta])
    values = _path_index(table, betas, 1.0)
    return float(np.mean((values[1:] + values[:-1]) / 2)) if labels else math.nan


def _path_index(table, beta, gamma):
    """By the definition: from the last cell back, the cheapest of the three ways to come to it."""
    total = table.sum()
    if not total:
        return math.nan
    spread = sum(table[r, k] * abs(r - k) ** gamma for r in range(len(table)) for k in range(len(table)))

    @functools.cache
    def cost_up_to(r, k):
        before = [cost_up_to(*cell) for cell in ((r - 1, k), (r, k - 1), (r - 1, k - 1)) if min(cell) >= 0]
        here = beta * table[r, k] * abs(r - k) ** gamma / total - table[r, k] / (total + spread ** (1 / gamma))
        return here + (np.min(before, axis=0) if before else 1.0)

    return cost_up_to(len(table) - 1, len(table) - 1)


def closeness(predicted, labels, num_classes):
    counts = [labels.count(k) for k in range(num_classes)]

    def bits(k, r):
        towards = range(k + 1, r + 1) if k < r else range(r, k)
        return -math.log2((counts[k] / 2 + sum(counts[j] for j in towards)) / len(labels))

    perfect = sum(bits(y, y) for y in labels)
    return sum(bits(p, y) for p, y in zip(predicted, labels, strict=True)) / perfect if labels else math.nan


def class_calibration_error(log_probs, labels, k, num_bins):
    return calibration_error([math.exp(row[k]) for row in log_probs], [k] * len(labels), labels, num_bins)


def adaptive_calibration_error(log_probs, labels, num_ranges):
    """For a number of samples that the ranges divide evenly."""
    probs, size = np.exp(log_probs), len(labels) // num_ranges
    gaps = []
    for k in range(probs.shape[1]):
        order = sorted(range(len(labels)), key=lambda i: probs[i, k])
        for first in range(0, len(labels), size):
            some = order[first : first + size]
            gaps.append(abs(_mean([probs[i, k] for i in some]) - _mean([labels[i] == k for i in some])))
    return _mean(gaps)


def weighted_kappa(predicted, labels, cost):
    observed = _mean([cost(p, y) for p, y in zip(predicted, labels, strict=True)])
    by_chance = _mean([cost(p, y) for p in predicted for y in labels])
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
