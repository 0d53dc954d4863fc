"""Matches the entries of a file with the items of a data set, by path or by position."""

import posixpath
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from onepeak._core.wording import counted, listed
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.order import label_key
from onepeak.data.splits.split import Indices
from onepeak.errors import InputError


def match_paths(paths: Sequence[str], manifest: Manifest, *, file: Path) -> Indices:
    """Returns the items that these paths name; an unknown path is an error.

    Args:
        paths: Paths relative to the data set's root, with slashes or backslashes.
        manifest: The data set.
        file: The file of the paths, for messages.
    """
    if not isinstance(manifest.items, ImageFiles):
        raise InputError(f"{file} goes by path, but {manifest.name!r} has no files: give a column `item`.")
    position = {plain_path(path): item for item, path in enumerate(manifest.items.paths)}
    if len(position) < len(manifest):
        raise InputError(f"{file} goes by path, but {manifest.name!r} has a path twice: give a column `item`.")
    plain = [plain_path(path) for path in paths]
    unknown = [path for path, name in zip(paths, plain, strict=True) if name not in position]
    if unknown:
        raise InputError(
            f"{file} must name items of {manifest.name!r}, whose paths look like {manifest.items.paths[0]!r}; "
            f"it has no {_items(unknown)}."
        )
    return np.array([position[name] for name in plain], dtype=np.int64)


def match_positions(positions: Sequence[int], manifest: Manifest, *, file: Path) -> Indices:
    """Returns the items at these positions; a position past the end is an error."""
    wrong = [str(position) for position in positions if not 0 <= position < len(manifest)]
    if wrong:
        raise InputError(
            f"{file} must hold positions from 0 to {len(manifest) - 1}, got {_items(wrong)}: "
            "it was made for another data set."
        )
    return np.array(positions, dtype=np.int64)


def check_labels_agree(items: Indices, labels: Sequence[str], manifest: Manifest, *, file: Path) -> bool:
    """Raises an error if the labels of a file differ from those of the data set; integers are compared as numbers.

    Args:
        items: The items that the file names.
        labels: Their labels in the file, empty if missing.
        manifest: The data set.
        file: The file of the labels, for messages.

    Returns:
        Whether the labels show that the file was made for this data set: not if none is a known class or one is empty.
    """
    known = {label_key(name) for name in manifest.classes}
    foreign = sorted({label for label in labels if label and label_key(label) not in known})
    if not any(label_key(label) in known for label in labels):
        return False
    here = [manifest.classes[label] for label in manifest.labels[items]]
    wrong = [
        f"{item_name(manifest, int(item))} ({theirs} there, {ours} here)"
        for item, theirs, ours in zip(items, labels, here, strict=True)
        if theirs and label_key(theirs) != label_key(ours)
    ]
    if wrong:
        lacks = f"; {manifest.name!r} has no class {listed(map(repr, foreign), limit=5)}" if foreign else ""
        raise InputError(
            f"{file} has other labels than {manifest.name!r} for {_items(wrong)}{lacks}: it was made for other data, "
            "or its labels must be written like those of the data set."
        )
    return all(labels)


def item_name(manifest: Manifest, item: int) -> str:
    """Returns the name of an item for messages: its path, or its position."""
    return manifest.items.paths[item] if isinstance(manifest.items, ImageFiles) else f"item {item}"


def plain_path(path: str) -> str:
    r"""Normalises a relative path: forward slashes, no `./`, no `..` where avoidable.

    Example:
        >>> plain_path(".\\faces\\old\\..\\001A02.JPG")
        'faces/001A02.JPG'
    """
    return posixpath.normpath(path.strip().replace("\\", "/"))


def _items(names: Sequence[str]) -> str:
    """Returns how many there are, and the first few."""
    return f"{counted(len(names), 'item')}: {listed(names, limit=5)}"
