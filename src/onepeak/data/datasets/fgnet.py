"""FG-NET: faces of 82 persons at different ages; the file name holds the person and the age."""

import re
from pathlib import Path

import numpy as np

from onepeak._core.wording import counted, listed
from onepeak.data.datasets.record import Dataset, locate
from onepeak.data.images.folder import scan
from onepeak.data.manifest import ImageFiles, Manifest

AGES = range(70)
LAYOUT = "images/001A02.JPG (subject 1 at the age of 2; a letter may follow the age)"

_NAME = re.compile(r"(?P<subject>\d{3})a(?P<age>\d{2})[a-z]?\.jpe?g", re.IGNORECASE)
_INSIDE = ("images", "FGNET/images", "FG-NET/images", "FGNET", "FG-NET")


def read_fgnet(root: Path) -> Manifest:
    """Reads age and subject from the file names; the classes are the ages 0 to 69, including those without images."""
    folder = locate(root, inside=_INSIDE, holds=_has_faces, layout=LAYOUT)
    found = scan(folder)
    names = [(path, _NAME.fullmatch(path)) for path in found.images]
    faces = [
        (path, match["subject"], int(match["age"])) for path, match in names if match and int(match["age"]) in AGES
    ]
    kept = {path for path, _, _ in faces}
    others = [path for path in found.images if path not in kept]
    notes = list(found.notes())
    if others:
        notes.append(
            f"left out {counted(len(others), 'image')} not named like 001A02.JPG with an age up to {AGES[-1]}: "
            f"{listed(others, limit=4)}"
        )
    return Manifest(
        name="fgnet",
        items=ImageFiles(root=folder, paths=tuple(path for path, _, _ in faces)),
        labels=np.array([age for _, _, age in faces], dtype=np.int64),
        classes=tuple(str(age) for age in AGES),
        groups=tuple(subject for _, subject, _ in faces),
        notes=tuple(notes),
    )


def _has_faces(folder: Path) -> bool:
    return any(_NAME.fullmatch(entry.name) for entry in folder.iterdir())


FGNET = Dataset(
    name="fgnet",
    title="FG-NET: faces of 82 persons, ages 0 to 69",
    classes=tuple(str(age) for age in AGES),
    num_items=1002,
    num_groups=82,
    layout=LAYOUT,
    obtain="Download FGNET.zip from https://yanweifu.github.io/FG_NET_data/ and unpack it.",
    terms="research only",
    reference="Panis et al. 2016, IET Biometrics 5",
    read=read_fgnet,
)
