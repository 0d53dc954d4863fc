"""How many items of each class, and how many groups, every part of a split holds."""

from collections.abc import Sequence

import numpy as np

from onepeak.data.manifest import Manifest
from onepeak.data.splits.split import PARTS, Indices, Part, Split


def class_counts(manifest: Manifest, split: Split) -> dict[Part, Indices]:
    """The number of items of each class in every part.

    Example:
        >>> from onepeak.data.manifest import FeatureRows
        >>> rows = FeatureRows(columns=("x",), values=np.zeros((5, 1), dtype=np.float32))
        >>> data = Manifest(name="mine", items=rows, labels=np.array([0, 0, 1, 1, 1]), classes=("low", "high"))
        >>> split = Split(train=np.array([0, 2, 3]), valid=np.array([1]), test=np.array([4]), protocol="mine")
        >>> class_counts(data, split)["train"]
        array([1, 2])
    """
    return {
        part: np.bincount(manifest.labels[items], minlength=manifest.num_classes) for part, items in split.parts.items()
    }


def group_counts(manifest: Manifest, split: Split) -> dict[Part, int] | None:
    """The number of groups (people, patients, slides) in every part; None where the data have no groups."""
    groups = manifest.groups
    if groups is None:
        return None
    return {part: len({groups[item] for item in items}) for part, items in split.parts.items()}


def split_notes(manifest: Manifest, splits: Sequence[Split]) -> list[str]:
    """What a reader of the results should know: classes that some part of some run has no item of.

    A class that has no item at all is not among them.
    """
    held = np.bincount(manifest.labels, minlength=manifest.num_classes)
    notes = []
    for part in PARTS:
        empty = sum((class_counts(manifest, split)[part] == 0).astype(np.int64) for split in splits)
        absent = np.flatnonzero((empty > 0) & (held > 0)) if len(splits) else np.array([], dtype=np.int64)
        if len(absent):
            shown = ", ".join(
                f"{manifest.classes[label]} ({held[label]} items, in {empty[label]} of {len(splits)} runs)"
                for label in absent[:5]
            )
            more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
            notes.append(f"{part} has no item of {len(absent)} of {np.count_nonzero(held)} classes: {shown}{more}.")
    return notes
