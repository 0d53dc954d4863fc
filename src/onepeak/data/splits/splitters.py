"""Draws and deals samples: the same seed gives the same parts on every platform and in every version.

scikit-learn's splitters are not used, because a published split must never change: theirs are reproducible only within
a version, refuse or warn about classes rarer than the number of folds (as most ages are), and round sizes differently
from the paper's protocols. The tests compare the balance of both.
"""

from collections.abc import Sequence

import numpy as np

from onepeak._core.values import check_integer
from onepeak.data.splits.split import Indices, Mask
from onepeak.errors import InputError


def shuffled(num_samples: int, *, seed: int, stream: tuple[int, ...]) -> Indices:
    """Returns the positions 0 .. num_samples - 1 in random order.

    The order is that of raw draws, which NumPy guarantees never to change, unlike `Generator.permutation`. Different
    streams, which name the draw within the series of a seed, are independent.

    Example:
        >>> shuffled(6, seed=0, stream=(0,))
        array([3, 1, 4, 5, 2, 0])
    """
    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=stream)).random_raw(num_samples)
    return np.argsort(bits, kind="stable").astype(np.int64)


def codes(values: Sequence[str]) -> Indices:
    """Encodes every value as an integer from 0, in the order of the sorted distinct values."""
    code_of = {value: code for code, value in enumerate(sorted(set(values)))}
    return np.array([code_of[value] for value in values], dtype=np.int64)


def draw(cells: Indices, sizes: Indices, *, seed: int, stream: tuple[int, ...]) -> Mask:
    """Draws `sizes[cell]` samples from every cell (class, or class x gender); returns whether each sample was drawn."""
    order = shuffled(len(cells), seed=seed, stream=stream)
    order = order[np.argsort(cells[order], kind="stable")]
    held = np.bincount(cells, minlength=len(sizes))
    if (short := np.flatnonzero(held < sizes)).size:
        cell = int(short[0])
        raise InputError(
            f"`sizes` must be at most what each cell holds: cell {cell} holds {held[cell]}, asked for {sizes[cell]}."
        )
    rank = np.arange(len(cells)) - np.repeat(np.cumsum(held) - held, held)
    drawn = np.zeros(len(cells), dtype=np.bool_)
    drawn[order] = rank < np.repeat(sizes, held)
    return drawn


def share_of(counts: Indices, share: float) -> Indices:
    """Returns a share of every count, rounded to the nearest integer, halves up."""
    rounded: Indices = np.floor(counts * share + 0.5).astype(np.int64)
    return rounded


def deal(cells: Indices, *, parts: int, seed: int, stream: tuple[int, ...]) -> Indices:
    """Deals the samples into parts of equal size, every cell evenly; returns the part of each sample.

    The samples are laid out cell by cell, shuffled within each, and dealt like cards. So the sizes of any two parts
    differ by at most one, in total and in every cell. With classes as cells, the same holds for the number of samples
    up to any class: the cumulative distributions agree, even if classes have fewer samples than there are parts.
    """
    check_integer("parts", parts, minimum=2)
    if len(cells) < parts:
        raise InputError(f"{parts} folds need at least {parts} samples, found {len(cells)}.")
    order = shuffled(len(cells), seed=seed, stream=(*stream, 0))
    order = order[np.argsort(cells[order], kind="stable")]
    # the first part is drawn too: otherwise the only sample of a class might be in the same fold in every split
    begin = shuffled(parts, seed=seed, stream=(*stream, 1))[0]
    dealt = np.empty(len(cells), dtype=np.int64)
    dealt[order] = (begin + np.arange(len(cells))) % parts
    return dealt


def deal_groups(cells: Indices, groups: Indices, *, parts: int, seed: int, stream: tuple[int, ...]) -> Indices:
    """Deals whole groups (numbered from 0) into parts of similar size and share of every cell, as far as they allow.

    Groups are placed greedily, the largest first and equal ones in random order, each in the part that holds the least
    of what the group contains. Then every group is removed and placed again in the same way, twice.
    """
    check_integer("parts", parts, minimum=2)
    sizes = np.bincount(groups)
    if len(sizes) < parts:
        raise InputError(f"{parts} folds by group need at least {parts} groups, found {len(sizes)}.")
    if len(sizes) == len(cells):  # every group is a single sample
        return deal(cells, parts=parts, seed=seed, stream=stream)
    order = shuffled(len(sizes), seed=seed, stream=(*stream, 0))
    order = order[np.argsort(-sizes[order], kind="stable")]
    hands = shuffled(parts, seed=seed, stream=(*stream, 1))

    by_group = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    # samples of rare cells weigh more; weights are integers, because float sums may differ between platforms
    weight = 2**32 // np.maximum(np.bincount(cells), 1)
    weight_in_all = 2**32 // len(cells)
    held = np.zeros((parts, len(weight)), dtype=np.int64)
    held_in_all = np.zeros(parts, dtype=np.int64)
    hand_of = np.full(len(sizes), -1, dtype=np.int64)
    for group in np.tile(order, 3):
        brought = cells[by_group[starts[group] : starts[group + 1]]]
        if (before := hand_of[group]) >= 0:  # placed again, now that all others have a part
            np.subtract.at(held[before], brought, 1)
            held_in_all[before] -= len(brought)
        # by how much the sum of squares, over cells and in total, would grow
        cost = held[:, brought] @ weight[brought] + held_in_all * (weight_in_all * len(brought))
        hand = int(cost.argmin())
        np.add.at(held[hand], brought, 1)
        held_in_all[hand] += len(brought)
        hand_of[group] = hand
    return hands[hand_of][groups]
