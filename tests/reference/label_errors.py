"""Confident learning at every cut of the scale from its definition, one sample at a time: nothing of onepeak."""


def likely_label_errors(probs, labels):
    """The suggested class of each sample (its label if that is not likely wrong), and the mean distance from it."""
    classes, suggested, distances = range(len(probs[0])), [], []
    pairs = list(zip(probs, labels, strict=True))
    limits = {}
    for k in classes[:-1]:
        below = [sum(row[: k + 1]) for row, label in pairs if label <= k]
        above = [sum(row[k + 1 :]) for row, label in pairs if label > k]
        limits[k] = [sum(side) / len(side) if side else None for side in (below, above)]
    for row, label in pairs:
        likely = False
        for k in classes[:-1]:
            below, above = sum(row[: k + 1]), sum(row[k + 1 :])
            low, high = limits[k]
            if label > k:
                likely |= low is not None and below >= 0.5 and below >= low
            else:
                likely |= high is not None and below < 0.5 and above >= high
        median = min(k for k in classes if sum(row[: k + 1]) >= 0.5 or k == classes[-1])
        suggested.append(median if likely else label)
        distances.append(sum(row[k] * abs(k - label) for k in classes))
    return suggested, distances
