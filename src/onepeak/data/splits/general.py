"""Protocols for anybody's data: a group stays together, and every class is in every part where it can be."""

import numpy as np

from onepeak.data.manifest import Manifest
from onepeak.data.splits.split import Indices, Parts
from onepeak.data.splits.splitters import codes, deal, deal_groups


def kfold(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
    """Every item is tested on once and validated on once; a fold is the test part, another the valid part.

    The valid part is the fold after the next one. Cards dealt one after another are then never the test and the valid
    part of one run, so a class with two items or more always has one to train on (without groups, from four folds on).

    Returns:
        Train, valid and test for each of the folds.
    """
    dealt = _deal(manifest, parts=folds, seed=seed, stream=(split,))
    runs = []
    for fold in range(folds):
        tested, validated = dealt == fold, dealt == (fold + 2) % folds
        runs.append((np.flatnonzero(~tested & ~validated), np.flatnonzero(validated), np.flatnonzero(tested)))
    return runs


def holdout(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:  # noqa: ARG001
    """A fifth of the items is the test part, a fifth of the rest the valid part.

    Returns:
        Train, valid and test, once.
    """
    tested = _deal(manifest, parts=min(5, num_units(manifest)), seed=seed, stream=(split, 0)) == 0
    rest = np.flatnonzero(~tested)
    left = manifest.take(rest)
    validated = _deal(left, parts=min(5, num_units(left)), seed=seed, stream=(split, 1)) == 0
    return [(rest[~validated], rest[validated], np.flatnonzero(tested))]


def too_few_units(manifest: Manifest) -> str | None:
    """Why the data set cannot be cut into three parts, if it cannot."""
    units = num_units(manifest)
    if units >= 3:
        return None
    what = "items" if manifest.groups is None else "groups, as none may be in two parts"
    return f"needs at least 3 {what}; {manifest.name!r} has {units}"


def num_units(manifest: Manifest) -> int:
    """How many things can be moved on their own: groups where there are groups, items otherwise."""
    return len(manifest) if manifest.groups is None else len(set(manifest.groups))


def _deal(manifest: Manifest, *, parts: int, seed: int, stream: tuple[int, ...]) -> Indices:
    """The part of every item: by group where there are groups, by class and stratum otherwise."""
    if manifest.groups is not None:
        return deal_groups(manifest.labels, codes(manifest.groups), parts=parts, seed=seed, stream=stream)
    if manifest.strata is None:
        return deal(manifest.labels, parts=parts, seed=seed, stream=stream)
    strata = codes(manifest.strata)
    # class first: strata share out what each class has, and the classes stay in their order
    return deal(manifest.labels * (strata.max() + 1) + strata, parts=parts, seed=seed, stream=stream)
