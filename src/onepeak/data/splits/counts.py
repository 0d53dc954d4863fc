"""Counts the items of each class, and the groups, in every part of a split."""

from collections.abc import Sequence

import numpy as np

from onepeak._core.wording import counted, listed
from onepeak.data.manifest import Manifest
from onepeak.data.splits.matching import item_name
from onepeak.data.splits.split import PARTS, Indices, Part, Split


def class_counts(manifest: Manifest, split: Split) -> dict[Part, Indices]:
    """Returns the number of items of each class in every part.

    Example:
        >>> from onepeak.data.manifest import FeatureRows
        >>> rows = FeatureRows(columns=("x",), values=np.zeros((5, 1)))
        >>> data = Manifest(name="mine", items=rows, labels=np.array([0, 0, 1, 1, 1]), classes=("low", "high"))
        >>> split = Split(train=np.array([0, 2, 3]), valid=np.array([1]), test=np.array([4]), protocol="mine")
        >>> class_counts(data, split)["train"]
        array([1, 2])
    """
    return {
        part: np.bincount(manifest.labels[items], minlength=manifest.num_classes) for part, items in split.parts.items()
    }


def group_counts(manifest: Manifest, split: Split) -> dict[Part, int] | None:
    """Returns the number of groups (persons, patients, slides) in every part; None if the data have no groups."""
    names = group_names(manifest, split)
    return None if names is None else {part: len(found) for part, found in names.items()}


def group_names(manifest: Manifest, split: Split) -> dict[Part, list[str]] | None:
    """Returns the sorted names of the groups in every part; None if the data have no groups."""
    groups = manifest.groups
    if groups is None:
        return None
    return {part: sorted({groups[item] for item in items}) for part, items in split.parts.items()}


def unused_items(manifest: Manifest, splits: Sequence[Split]) -> list[str]:
    """Returns a note on items that are in no part of a run, as a file of splits may leave some out.

    Example:
        >>> from onepeak.data.manifest import FeatureRows
        >>> rows = FeatureRows(columns=("x",), values=np.zeros((5, 1)))
        >>> data = Manifest(name="mine", items=rows, labels=np.array([0, 0, 1, 1, 1]), classes=("low", "high"))
        >>> split = Split(train=np.array([0, 2]), valid=np.array([1]), test=np.array([4]), protocol="mine")
        >>> unused_items(data, [split])
        ['1 of 5 items is in no part, and not used: item 3']
    """
    everything = np.arange(len(manifest))
    unused = max((np.setdiff1d(everything, np.concatenate(list(run.parts.values()))) for run in splits), key=len)
    if not len(unused):
        return []
    names = listed((item_name(manifest, int(item)) for item in unused), limit=5)
    are = f"{len(unused):,} of {counted(len(manifest), 'item')} {'is' if len(unused) == 1 else 'are'}"
    where = "" if len(splits) == 1 else " of some run"
    return [f"{are} in no part{where}, and not used: {names}"]


def split_notes(manifest: Manifest, splits: Sequence[Split], *, parts: Sequence[Part] = PARTS) -> list[str]:
    """Returns notes on unused items, and on classes that have no items in some part of some run.

    Classes without items in the whole data set are not mentioned.

    Args:
        manifest: The data set.
        splits: The runs.
        parts: The parts to check for missing classes.
    """
    present = np.bincount(manifest.labels, minlength=manifest.num_classes) > 0
    notes = unused_items(manifest, splits)
    one = len(splits) == 1
    for part in parts:
        runs_without = np.zeros(manifest.num_classes, dtype=np.int64)
        for split in splits:
            runs_without += class_counts(manifest, split)[part] == 0
        absent = np.flatnonzero(present & (runs_without > 0))
        if len(absent):
            of_runs = [("" if one else f" ({runs_without[label]} of {len(splits)} runs)") for label in absent]
            names = (f"{manifest.classes[label]}{runs}" for label, runs in zip(absent, of_runs, strict=True))
            notes.append(
                f"{part} lacks {len(absent)} of the {np.count_nonzero(present)} classes that have items"
                f"{'' if one else ', in some run'}: {listed(names, limit=5)}"
            )
    return notes
