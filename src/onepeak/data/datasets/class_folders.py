"""Reads a known set with one folder per class; accepts spelling variants of the folder names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from onepeak._listing import counted, listed
from onepeak.data.label_key import letters
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.scan import scan


def has_folder(folder: Path, names: Mapping[str, str]) -> bool:
    """Whether a folder contains at least one of the class folders."""
    return any(entry.is_dir() and letters(entry.name) in names for entry in folder.iterdir())


def read_class_folders(
    folder: Path, *, name: str, classes: Sequence[str], folders: Mapping[str, str], suffixes: Sequence[str]
) -> Manifest:
    """Reads the images of every class folder.

    Args:
        folder: The folder of the set.
        name: The name of the set.
        classes: Names of the classes, lowest first.
        folders: The class of each folder, by the `letters` of the folder's name.
        suffixes: The file extensions of the set's images, in lower case.
    """
    found = scan(folder)
    paths: list[str] = []
    labels: list[int] = []
    outside: Counter[str] = Counter()
    for path in found.pictures:
        top, _, rest = path.partition("/")
        if rest and letters(top) in folders and path.lower().endswith(tuple(suffixes)):
            paths.append(path)
            labels.append(classes.index(folders[letters(top)]))
        else:
            outside[top if rest else "."] += 1
    notes = list(found.notes())
    if outside:
        where = listed(sorted(outside), limit=4)
        notes.append(f"left out {counted(outside.total(), 'image')} not part of the set (in {where})")
    return Manifest(
        name=name,
        items=ImageFiles(root=folder, paths=tuple(paths)),
        labels=np.array(labels, dtype=np.int64),
        classes=tuple(classes),
        notes=tuple(notes),
    )
