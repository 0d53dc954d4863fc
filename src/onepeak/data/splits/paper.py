"""The splits of Belharbi et al. 2019, section 4, as described in the text and as made by the published code."""

import random
from functools import cache
from typing import Any

import numpy as np

from onepeak.data.manifest import Manifest
from onepeak.data.splits.split import Indices, Mask, Parts
from onepeak.data.splits.splitters import codes, deal, draw, share_of, shuffled

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
    assert manifest.groups is not None  # checked by `without_subjects`
    subjects = codes(manifest.groups)
    tested, validated = _two_draws(np.zeros(subjects.max() + 1, dtype=np.int64), seed=seed, split=split, at_least=1)
    return [_parts(tested[subjects], validated[subjects])]


def fgnet_by_its_authors(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:  # noqa: ARG001
    """Trains on 53 subjects, validates on 13 and tests on 16: with seed 0, the very splits of the published code."""
    assert manifest.groups is not None  # checked by `without_the_subjects_of_fgnet`
    order, _ = _subjects_in_order(tuple(sorted(set(manifest.groups))), seed=seed, split=split)
    rank = np.array([order.index(subject) for subject in manifest.groups])
    return [_parts(rank >= 66, (rank >= 53) & (rank < 66))]


def afad_as_coded(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:  # noqa: ARG001
    """Tests on a fifth of every gender and age, and validates on a fifth of the rest of it."""
    return [_parts(*_two_draws(_gender_and_age(manifest), seed=seed, split=split, at_least=0))]


def without_fold_samples(manifest: Manifest) -> str | None:
    """Half of every class must leave enough samples for five folds."""
    left = len(manifest) - int(share_of(np.bincount(manifest.labels, minlength=1), 0.5).sum())
    return None if left >= 5 else f"needs 5 samples or more outside the test part; {manifest.name!r} leaves {left}"


def without_fifty_a_class(manifest: Manifest) -> str | None:
    """50 samples of every class must leave enough for ten folds."""
    counts = np.bincount(manifest.labels, minlength=manifest.num_classes)
    smallest = int(counts.argmin())
    if counts[smallest] >= HCI_TEST_PER_CLASS + 10:
        return None
    return (
        f"takes {HCI_TEST_PER_CLASS} test samples of every class and makes 10 folds of the others; "
        f"class {manifest.classes[smallest]!r} has {counts[smallest]}"
    )


def without_a_last_fold(manifest: Manifest) -> str | None:
    """As `without_fifty_a_class`, and the last fold must not be empty."""
    if reason := without_fifty_a_class(manifest):
        return reason
    left = np.bincount(manifest.labels, minlength=manifest.num_classes) - HCI_TEST_PER_CLASS
    if np.any(9 * -(-left // 10) < left):
        return None
    return f"cuts 10 folds of equal size, rounded up; {manifest.name!r} leaves the last one empty"


def without_ten_samples(manifest: Manifest) -> str | None:
    """There must be enough samples for a test part and five folds."""
    return None if len(manifest) >= 10 else f"needs 10 samples or more; {manifest.name!r} has {len(manifest)}"


def without_subjects(manifest: Manifest) -> str | None:
    """The data set must name at least three subjects."""
    if manifest.groups is None:
        return f"splits by subject; {manifest.name!r} does not name the subject of each image (its `groups`)"
    subjects = len(set(manifest.groups))
    return None if subjects >= 3 else f"needs 3 subjects or more; {manifest.name!r} has {subjects}"


def without_the_subjects_of_fgnet(manifest: Manifest) -> str | None:
    """The authors' splits need the very subjects of FG-NET."""
    subjects = 0 if manifest.groups is None else len(set(manifest.groups))
    if manifest.name == "fgnet" and subjects == FGNET_SUBJECTS:
        return None
    return f"is for the {FGNET_SUBJECTS} subjects of fgnet; {manifest.name!r} has {subjects or 'none'}"


def without_gender(manifest: Manifest) -> str | None:
    """The data set must name the genders, and have enough samples of some gender and age."""
    if manifest.strata is None:
        return f"splits by gender and age; {manifest.name!r} does not name the gender (its `strata`)"
    counts = np.bincount(_gender_and_age(manifest), minlength=1)
    tested = counts // 5
    if ((counts - tested) // 5).sum() and tested.sum():
        return None
    return f"takes a fifth of every gender and age; the largest of them has {counts.max()} samples in {manifest.name!r}"


def _gender_and_age(manifest: Manifest) -> Indices:
    assert manifest.strata is not None  # checked by `without_gender`
    genders = codes(manifest.strata)
    cells: Indices = manifest.labels * (genders.max(initial=0) + 1) + genders
    return cells


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
