"""The splits of Belharbi et al. 2019, section 4, as described in the text and as made by the published code."""

import random
from functools import cache
from typing import Any

import numpy as np

from onepeak.data.manifest import Manifest
from onepeak.data.splits.split import Indices, Mask, Parts
from onepeak.data.splits.splitters import codes, deal, draw, share_of, shuffled
from onepeak.errors import InputError

HCI_TEST_PER_CLASS = 50
FGNET_SUBJECTS = 82
_SHUFFLES = 1000
"""How often the published code shuffles the subjects before each split."""


def iciar(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
    """Uses half of every class as the test part, and deals the rest into folds, class by class."""
    tested = _half_of_every_class(manifest, seed=seed, split=split)
    return _validated_by_fold(tested, manifest.labels, folds=folds, seed=seed, split=split)


def iciar_as_coded(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
    """Uses the same half of every class as the test part of all splits; only the folds are drawn anew."""
    tested = _half_of_every_class(manifest, seed=seed, split=0)
    return _validated_by_fold(tested, manifest.labels, folds=folds, seed=seed, split=split)


def hci(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
    """Uses 50 samples of every class as the test part, and deals the rest into folds, class by class."""
    tested = _fifty_of_every_class(manifest, seed=seed, split=split)
    return _validated_by_fold(tested, manifest.labels, folds=folds, seed=seed, split=split)


def hci_as_coded(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
    """Uses 50 samples of every class as the test part, and cuts the rest of each class into folds.

    All folds but the last have the same size, rounded up: of 215 samples nine times 22, then 17.
    """
    tested = _fifty_of_every_class(manifest, seed=seed, split=split)
    rest = np.flatnonzero(~tested)
    labels = manifest.labels[rest]
    left = np.bincount(labels, minlength=manifest.num_classes)
    order = shuffled(len(rest), seed=seed, stream=(split, 1))
    order = order[np.argsort(labels[order], kind="stable")]
    rank = np.empty(len(rest), dtype=np.int64)
    rank[order] = np.arange(len(rest)) - np.repeat(np.cumsum(left) - left, left)
    cut = rank // -(-left // folds)[labels]
    return [(rest[cut != fold], rest[cut == fold], np.flatnonzero(tested)) for fold in range(folds)]


def ages_as_written(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
    """Uses a fifth of all images as the test part, regardless of the subject, and deals the rest into folds."""
    everywhere = np.zeros(len(manifest), dtype=np.int64)
    tested = draw(everywhere, share_of(np.array([len(manifest)]), 0.2), seed=seed, stream=(split, 0))
    return _validated_by_fold(tested, everywhere, folds=folds, seed=seed, split=split)


def fgnet_as_coded(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:  # noqa: ARG001
    """Tests on a fifth of the subjects and validates on a fifth of the others: 53, 13 and 16 of FG-NET's 82."""
    if manifest.groups is None:
        raise InputError("it does not name the subject of each image (its `groups`).")
    subjects = codes(manifest.groups)
    tested, validated = _two_draws(np.zeros(subjects.max() + 1, dtype=np.int64), seed=seed, split=split, at_least=1)
    return [_parts(tested[subjects], validated[subjects])]


def fgnet_by_its_authors(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:  # noqa: ARG001
    """Trains on 53 subjects, validates on 13 and tests on 16: with seed 0, the very splits of the published code."""
    groups = manifest.groups or ()
    subjects = tuple(sorted(set(groups)))
    if manifest.name != "fgnet" or len(subjects) != FGNET_SUBJECTS:
        raise InputError(f"it is not fgnet with its {FGNET_SUBJECTS} subjects, it has {len(subjects)}.")
    order, _ = _subjects_in_order(subjects, seed=seed, split=split)
    rank = np.array([order.index(subject) for subject in groups])
    return [_parts(rank >= 66, (rank >= 53) & (rank < 66))]


def afad_as_coded(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:  # noqa: ARG001
    """Tests on a fifth of every gender and age, and validates on a fifth of the rest of it."""
    if manifest.strata is None:
        raise InputError("it does not name the gender of each image (its `strata`).")
    genders = codes(manifest.strata)
    cells = manifest.labels * (genders.max(initial=0) + 1) + genders
    return [_parts(*_two_draws(cells, seed=seed, split=split, at_least=0))]


def _two_draws(cells: Indices, *, seed: int, split: int, at_least: int) -> tuple[Mask, Mask]:
    """Draws a fifth of every cell, and then a fifth of the rest, both rounded down."""
    counts = np.bincount(cells)
    sizes = np.maximum(counts // 5, at_least)
    tested = draw(cells, sizes, seed=seed, stream=(split, 0))
    rest = np.flatnonzero(~tested)
    sizes = np.maximum((counts - sizes) // 5, at_least)
    validated = np.zeros(len(cells), dtype=np.bool_)
    validated[rest] = draw(cells[rest], sizes, seed=seed, stream=(split, 1))
    return tested, validated


def _half_of_every_class(manifest: Manifest, *, seed: int, split: int) -> Mask:
    return draw(manifest.labels, share_of(np.bincount(manifest.labels), 0.5), seed=seed, stream=(split, 0))


def _fifty_of_every_class(manifest: Manifest, *, seed: int, split: int) -> Mask:
    counts = np.bincount(manifest.labels, minlength=manifest.num_classes)
    smallest = int(counts.argmin())
    if counts[smallest] < HCI_TEST_PER_CLASS + 10:
        raise InputError(
            f"{HCI_TEST_PER_CLASS} samples of every class are tested on and the others make 10 folds, but class "
            f"{manifest.classes[smallest]!r} has {counts[smallest]}."
        )
    return draw(manifest.labels, np.full(manifest.num_classes, HCI_TEST_PER_CLASS), seed=seed, stream=(split, 0))


@cache
def _subjects_in_order(subjects: tuple[str, ...], *, seed: int, split: int) -> tuple[list[str], Any]:
    """Returns the subjects as the published code orders them for a split, and the state of its random numbers."""
    source = random.Random(seed)
    order = list(subjects)
    if split:
        order, state = _subjects_in_order(subjects, seed=seed, split=split - 1)
        order = list(order)
        source.setstate(state)
    for _ in range(_SHUFFLES):
        source.shuffle(order)
    return order, source.getstate()


def _validated_by_fold(tested: Mask, cells: Indices, *, folds: int, seed: int, split: int) -> list[Parts]:
    """Deals the samples outside the test part into folds; each fold is the valid part once."""
    rest = np.flatnonzero(~tested)
    dealt = deal(cells[rest], parts=folds, seed=seed, stream=(split, 1))
    return [(rest[dealt != fold], rest[dealt == fold], np.flatnonzero(tested)) for fold in range(folds)]


def _parts(tested: Mask, validated: Mask) -> Parts:
    return np.flatnonzero(~tested & ~validated), np.flatnonzero(validated), np.flatnonzero(tested)
