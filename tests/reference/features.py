"""Terms on features from their definitions: float64, one pair or triple at a time, nothing from `src`."""

import math


def rank_n_contrast(features, labels, *, temperature=2.0):
    size, total = len(labels), 0.0
    for i in range(size):
        for j in range(size):
            if i == j:
                continue
            wider = [k for k in range(size) if k != i and abs(labels[i] - labels[k]) >= abs(labels[i] - labels[j])]
            similar = [math.exp(-math.dist(features[i], features[k]) / temperature) for k in wider]
            total -= math.log(math.exp(-math.dist(features[i], features[j]) / temperature) / sum(similar))
    return total / (size * (size - 1))


def ordinal_entropy(features, labels, *, num_classes):
    rows = [direction(row) for row in features]
    centres = {}
    for k in set(labels):
        members = [row for row, label in zip(rows, labels, strict=True) if label == k]
        centres[k] = direction([sum(column) for column in zip(*members, strict=True)])
    pairs = [(k, m) for k in centres for m in centres if k < m]
    spread = [(m - k) / (num_classes - 1) * math.dist(centres[k], centres[m]) for k, m in pairs]
    tight = [math.dist(row, centres[label]) ** 2 for row, label in zip(rows, labels, strict=True)]
    return sum(tight) / len(tight) - (sum(spread) / len(spread) if spread else 0.0)


def cloc(features, labels, *, margin=0.5):
    rows, hinges = [direction(row) for row in features], []
    for i in range(len(labels)):
        for j in range(len(labels)):
            for k in range(len(labels)):
                if i != j and labels[i] == labels[j] != labels[k]:
                    apart = margin * abs(labels[i] - labels[k])
                    hinges.append(max(0.0, cosine(rows[i], rows[k]) - cosine(rows[i], rows[j]) + apart))
    return sum(hinges) / len(hinges) if hinges else 0.0


def direction(row):
    length = math.hypot(*row)
    return [value / length for value in row]


def cosine(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


TERMS = {
    "rnc": lambda features, labels, _: rank_n_contrast(features, labels),
    "oe": lambda features, labels, num_classes: ordinal_entropy(features, labels, num_classes=num_classes),
    "cloc": lambda features, labels, _: cloc(features, labels),
}
