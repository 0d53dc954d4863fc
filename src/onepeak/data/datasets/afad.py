"""AFAD, the Asian Face Age Dataset, in both sizes: one folder per age, with one folder per gender in it."""

from collections import Counter
from pathlib import Path

import numpy as np

from onepeak._core.wording import counted, listed
from onepeak.data.datasets.record import Dataset, locate
from onepeak.data.images.folder import scan
from onepeak.data.manifest import ImageFiles, Manifest

GENDERS = {"111": "male", "112": "female"}
LITE_AGES = range(18, 40)
"""22 classes, as in the set itself; "15 to 39" in Belharbi et al. 2019 is an error."""
FULL_AGES = range(15, 73)
LAYOUT = "<age>/111/*.jpg (male) and <age>/112/*.jpg (female)"


def read_afad_lite(root: Path) -> Manifest:
    """Reads AFAD-Lite, ages 18 to 39; the gender of each face is its stratum.

    Args:
        root: The folder of the ages (`AFAD-Lite`), or the one into which it was unpacked.
    """
    inside = ("AFAD-Lite", "tarball-lite/AFAD-Lite", "tarball-lite-master/AFAD-Lite")
    return _read(root, name="afad-lite", ages=LITE_AGES, inside=inside)


def read_afad_full(root: Path) -> Manifest:
    """Reads AFAD-Full, ages 15 to 72; the gender of each face is its stratum.

    Args:
        root: The folder of the ages (`AFAD-Full`), or the one into which it was unpacked.
    """
    inside = ("AFAD-Full", "tarball/AFAD-Full", "tarball-master/AFAD-Full")
    return _read(root, name="afad-full", ages=FULL_AGES, inside=inside)


def _read(root: Path, *, name: str, ages: range, inside: tuple[str, ...]) -> Manifest:
    folder = locate(root, inside=inside, holds=lambda place: _has_ages(place, ages), layout=LAYOUT)
    found = scan(folder)
    folders = {str(age): age for age in ages}
    faces: list[tuple[str, int, str]] = []
    outside: Counter[str] = Counter()
    for path in found.images:
        match path.split("/"):
            case [age, gender, _] if age in folders and gender in GENDERS:
                faces.append((path, folders[age], GENDERS[gender]))
            case [top, *_]:
                outside[top] += 1
    notes = list(found.notes())
    if outside:
        notes.append(
            f"left out {counted(outside.total(), 'image')} outside the ages {ages[0]} to {ages[-1]} "
            f"(in {listed(sorted(outside), limit=6)})"
        )
    genders = Counter(gender for _, _, gender in faces)
    notes.append(", ".join(f"{genders[gender]:,} {gender}" for gender in GENDERS.values()))
    return Manifest(
        name=name,
        items=ImageFiles(root=folder, paths=tuple(path for path, _, _ in faces)),
        labels=np.array([age - ages[0] for _, age, _ in faces], dtype=np.int64),
        classes=tuple(str(age) for age in ages),
        strata=tuple(gender for _, _, gender in faces),
        notes=tuple(notes),
    )


def _has_ages(folder: Path, ages: range) -> bool:
    return any((folder / str(age) / gender).is_dir() for age in ages for gender in GENDERS)


AFAD_LITE = Dataset(
    name="afad-lite",
    title="AFAD-Lite: faces, ages 18 to 39",
    classes=tuple(str(age) for age in LITE_AGES),
    num_items=59_344,
    layout=LAYOUT,
    obtain="Clone https://github.com/afad-dataset/tarball-lite, join its parts and unpack them as its README says.",
    terms="academic research only",
    reference="Niu et al. 2016, CVPR",
    read=read_afad_lite,
)
AFAD_FULL = Dataset(
    name="afad-full",
    title="AFAD-Full: faces, ages 15 to 72",
    classes=tuple(str(age) for age in FULL_AGES),
    num_items=165_501,
    layout=LAYOUT,
    obtain="Clone https://github.com/afad-dataset/tarball, join its parts and unpack them as its README says.",
    terms="academic research only",
    reference="Niu et al. 2016, CVPR",
    read=read_afad_full,
)
