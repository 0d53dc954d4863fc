"""The samples of a fit as a weighted set: neither order nor the use of repeated instead of weighted rows matters."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Rows, the positions of their labels in the order, their weights and, if given, their groups."""

    rows: npt.NDArray[np.floating]
    labels: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    groups: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, places: npt.NDArray[np.int64]) -> "Samples":
        """Returns some of the samples."""
        groups = None if self.groups is None else self.groups[places]
        return Samples(rows=self.rows[places], labels=self.labels[places], weights=self.weights[places], groups=groups)


def sorted_samples(samples: Samples) -> Samples:
    """Returns the samples of positive weight, in an order that depends only on their content.

    Groups are renumbered by the samples they hold, so their labels do not matter either.
    """
    kept = samples.take(np.flatnonzero(samples.weights > 0))
    if not len(kept):
        raise InputError("`sample_weight` must leave some sample a weight above zero, all are zero.")
    in_order = kept.take(np.lexsort((kept.weights, kept.labels, *kept.rows.T)))
    return in_order if in_order.groups is None else _with_groups_by_content(in_order, in_order.groups)


def _with_groups_by_content(samples: Samples, groups: npt.NDArray[np.int64]) -> Samples:
    """Numbers groups in the order of their samples, and puts equal samples in the order of their groups."""
    new = ~(_same_as_before(samples) & (samples.weights[1:] == samples.weights[:-1]))
    ranks = np.concatenate([[0], np.cumsum(new)])
    content: dict[int, list[int]] = {}
    for group, rank in zip(groups.tolist(), ranks.tolist(), strict=True):
        content.setdefault(group, []).append(rank)
    number = {group: place for place, group in enumerate(sorted(content, key=content.__getitem__))}
    numbers = np.array([number[group] for group in groups.tolist()], dtype=np.int64)
    return replace(samples, groups=numbers).take(np.lexsort((numbers, ranks)))


def _same_as_before(samples: Samples) -> npt.NDArray[np.bool_]:
    """Returns, for all samples except the first, whether row and label equal those of the sample before."""
    rows, labels = samples.rows, samples.labels
    same: npt.NDArray[np.bool_] = (rows[1:] == rows[:-1]).all(axis=1) & (labels[1:] == labels[:-1])
    return same


def weighed(samples: Samples, class_weights: npt.NDArray[np.float64] | None) -> Samples:
    """Returns the samples with class weights applied, without samples of weight zero.

    Args:
        samples: Some samples.
        class_weights: A weight for each class, or None for equal weights.
    """
    if class_weights is None:
        return samples
    weights = samples.weights * class_weights[samples.labels]
    return replace(samples, weights=weights).take(np.flatnonzero(weights > 0))


def merged(samples: Samples) -> Samples:
    """Merges equal rows with equal labels into one sample with the sum of their weights; the samples must be sorted.

    Groups are dropped. A sample of weight 3 and three samples of weight 1 then give the same bits, and a table with few
    distinct rows trains faster.

    Example:
        >>> rows, labels = np.array([[1.0], [1.0], [2.0]]), np.array([0, 0, 1])
        >>> merged(Samples(rows=rows, labels=labels, weights=np.ones(3))).weights
        array([2., 1.])
    """
    first = np.flatnonzero(np.concatenate([[True], ~_same_as_before(samples)]))
    weights = np.add.reduceat(samples.weights, first)
    return Samples(rows=samples.rows[first], labels=samples.labels[first], weights=weights)


def hold_out(samples: Samples, share: float, *, seed: int, fewest_groups: int = 1) -> tuple[Samples, Samples]:
    """Splits samples into training samples and a random share, drawn from every class in proportion.

    Every sample has the same chance of being held out, even in small classes.

    If samples have groups, whole groups are drawn at random until the share is reached, regardless of classes. Groups
    that alone exceed the share come last, smallest first. At least one group is not held out.

    Args:
        samples: All samples, sorted.
        share: Share to hold out, from 0 to below 1; rounded to whole samples.
        seed: Seed of the draw.
        fewest_groups: Fewest groups to hold out, if any are.

    Example:
        >>> rows, labels = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
        >>> train, held_out = hold_out(Samples(rows=rows, labels=labels, weights=np.ones(10)), 0.4, seed=0)
        >>> held_out.labels
        array([0, 0, 1, 1])
    """
    chance = np.random.default_rng(seed)
    count = round(share * len(samples))
    if samples.groups is None:
        held_out = _of_every_class(samples.labels, count, chance)
    else:
        held_out = _whole_groups(samples.groups, count, chance, fewest_groups)
    return samples.take(np.flatnonzero(~held_out)), samples.take(np.flatnonzero(held_out))


def _of_every_class(labels: npt.NDArray[np.int64], count: int, chance: np.random.Generator) -> npt.NDArray[np.bool_]:
    by_class = np.lexsort((chance.random(len(labels)), labels))
    # Systematic sampling: `count` equal steps through the samples in class order, from a random start.
    steps = (np.arange(count) + chance.random()) * len(labels) / max(1, count)
    held_out = np.zeros(len(labels), dtype=bool)
    held_out[by_class[steps.astype(np.int64)]] = True
    return held_out


def _whole_groups(
    groups: npt.NDArray[np.int64], count: int, chance: np.random.Generator, fewest: int
) -> npt.NDArray[np.bool_]:
    if not count:
        return np.zeros(len(groups), dtype=bool)
    names, sizes = np.unique(groups, return_counts=True)
    if len(names) <= fewest:
        raise InputError(
            f"`groups` must be at least {fewest + 1} if whole groups are held out of training, got {len(names)}: "
            "give rows of more groups, or `validation_fraction=0` to hold out none."
        )
    drawn = np.lexsort((chance.random(len(names)), np.where(sizes > count, sizes, 0)))
    enough = 1 + int(np.searchsorted(np.cumsum(sizes[drawn]), count))
    return np.isin(groups, names[drawn[: min(max(enough, fewest), len(names) - 1)]])
