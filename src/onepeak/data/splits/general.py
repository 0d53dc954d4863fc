"""General protocols: a group stays together, and every class is in every part where possible."""

import numpy as np

from onepeak.data.manifest import Manifest
from onepeak.data.splits.split import Indices, Parts
from onepeak.data.splits.splitters import codes, deal, deal_groups


def kfold(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
    """Tests on every item once and validates on every item once: one fold is the test part, another the valid part.

    The valid part is the fold after the next one. Items dealt one after another are then never the test and the valid
    part of the same run, so a class with two or more items always has one to train on (without groups, and with four
    folds or more).

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
    """Uses a fifth of the items as the test part, and a fifth of the rest as the valid part.

    Returns:
        Train, valid and test, once.
    """
    tested = _deal(manifest, parts=min(5, num_units(manifest)), seed=seed, stream=(split, 0)) == 0
    rest = np.flatnonzero(~tested)
    left = manifest.take(rest)
    validated = _deal(left, parts=min(5, num_units(left)), seed=seed, stream=(split, 1)) == 0
    return [(rest[~validated], rest[validated], np.flatnonzero(tested))]


def too_few_units(manifest: Manifest) -> str | None:
    """Explains why the data set cannot be split into three parts; None if it can."""
    units = num_units(manifest)
    if units >= 3:
        return None
    what = "items" if manifest.groups is None else "groups, because a group must not be in two parts"
    return f"needs at least 3 {what}; {manifest.name!r} has {units}"


def num_units(manifest: Manifest) -> int:
    """Returns the number of units that can be assigned separately: groups if there are groups, else items."""
    return len(manifest) if manifest.groups is None else len(set(manifest.groups))


def _deal(manifest: Manifest, *, parts: int, seed: int, stream: tuple[int, ...]) -> Indices:
    """Returns the part of every item: dealt by group if there are groups, else by class and stratum."""
    if manifest.groups is not None:
        return deal_groups(manifest.labels, codes(manifest.groups), parts=parts, seed=seed, stream=stream)
    if manifest.strata is None:
        return deal(manifest.labels, parts=parts, seed=seed, stream=stream)
    strata = codes(manifest.strata)
    # class first: strata are balanced within each class, and the classes stay in order
    return deal(manifest.labels * (strata.max() + 1) + strata, parts=parts, seed=seed, stream=stream)
