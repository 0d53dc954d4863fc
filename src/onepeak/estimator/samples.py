"""The samples of a fit as a weighted set: neither their order nor how repetitions are written makes a difference."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Rows, the positions of their labels in the order, and their weights."""

    rows: npt.NDArray[np.floating]
    labels: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, places: npt.NDArray[np.int64]) -> "Samples":
        """Some of the samples."""
        return Samples(rows=self.rows[places], labels=self.labels[places], weights=self.weights[places])


def sorted_samples(samples: Samples) -> Samples:
    """The samples that have a weight, in an order that depends on nothing but themselves."""
    kept = samples.take(np.flatnonzero(samples.weights > 0))
    if not len(kept):
        raise InputError("`sample_weight` must leave some sample a weight above zero, all are zero.")
    return kept.take(np.lexsort((kept.weights, kept.labels, *kept.rows.T)))


def weighed(samples: Samples, class_weights: npt.NDArray[np.float64] | None) -> Samples:
    """The samples with their weights times those of their classes; without any left of a class that has none.

    Args:
        samples: Some samples.
        class_weights: A weight of each class, or None for all alike.
    """
    if class_weights is None:
        return samples
    weights = samples.weights * class_weights[samples.labels]
    return Samples(rows=samples.rows, labels=samples.labels, weights=weights).take(np.flatnonzero(weights > 0))


def merged(samples: Samples) -> Samples:
    """Every row with its label once, with the sum of its weights; the samples must be sorted.

    A sample of weight 3 and three samples of weight 1 are then the same thing to the last bit, and a table of few
    distinct rows trains faster.

    Example:
        >>> rows, labels = np.array([[1.0], [1.0], [2.0]]), np.array([0, 0, 1])
        >>> merged(Samples(rows=rows, labels=labels, weights=np.ones(3))).weights
        array([2., 1.])
    """
    same = (samples.rows[1:] == samples.rows[:-1]).all(axis=1) & (samples.labels[1:] == samples.labels[:-1])
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    weights = np.add.reduceat(samples.weights, first)
    return Samples(rows=samples.rows[first], labels=samples.labels[first], weights=weights)


def hold_out(samples: Samples, share: float, *, seed: int) -> tuple[Samples, Samples]:
    """Training samples, and a share of the samples drawn at random from every class in proportion.

    Every sample has the same chance to be held out, also where a class has only a few.

    Args:
        samples: All samples, sorted.
        share: How many to hold out, from 0 to below 1; rounded to whole samples.
        seed: Of the draw.

    Example:
        >>> rows, labels = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
        >>> train, held_out = hold_out(Samples(rows=rows, labels=labels, weights=np.ones(10)), 0.4, seed=0)
        >>> held_out.labels
        array([0, 0, 1, 1])
    """
    chance = np.random.default_rng(seed)
    count = round(share * len(samples))
    by_class = np.lexsort((chance.random(len(samples)), samples.labels))
    # A point at random in the first of `count` equal steps through the classes, and then one in each step.
    steps = (np.arange(count) + chance.random()) * len(samples) / max(1, count)
    held_out = np.zeros(len(samples), dtype=bool)
    held_out[by_class[steps.astype(np.int64)]] = True
    return samples.take(np.flatnonzero(~held_out)), samples.take(np.flatnonzero(held_out))
