"""AFAD, the Asian Face Age Dataset, in both sizes: one folder per age, with one folder per gender in it."""

from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

from onepeak._core.wording import counted, listed
from onepeak.data.datasets.record import Dataset, locate
from onepeak.data.images.folder import scan
from onepeak.data.manifest import ImageFiles, Manifest

GENDERS = {"111": "male", "112": "female"}
LITE_AGES = range(18, 40)
"""22 classes, as in the set itself; "15 to 39" in Belharbi et al. 2019 is an error."""
LAYOUT = "<age>/111/*.jpg (male) and <age>/112/*.jpg (female)"


def _read(root: Path, *, name: str, ages: range, inside: tuple[str, ...]) -> Manifest:
    """Reads the faces below the folder of the ages, or the one that it was unpacked into; the stratum is the gender."""
    folder = locate(root, inside=inside, holds=partial(_has_ages, ages=ages), layout=LAYOUT)
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


def _has_ages(folder: Path, *, ages: range) -> bool:
    return any((folder / str(age) / gender).is_dir() for age in ages for gender in GENDERS)


def _dataset(size: str, *, ages: range, num_items: int, archive: str) -> Dataset:
    name, folder = f"afad-{size.lower()}", f"AFAD-{size}"
    inside = (folder, f"{archive}/{folder}", f"{archive}-master/{folder}")
    return Dataset(
        name=name,
        title=f"{folder}: faces, ages {ages[0]} to {ages[-1]}",
        classes=tuple(map(str, ages)),
        num_items=num_items,
        layout=LAYOUT,
        obtain=f"Clone https://github.com/afad-dataset/{archive}, join its parts and unpack them as its README says.",
        terms="academic research only",
        reference="Niu et al. 2016, CVPR",
        read=partial(_read, name=name, ages=ages, inside=inside),
    )


AFAD_LITE = _dataset("Lite", ages=LITE_AGES, num_items=59_344, archive="tarball-lite")
AFAD_FULL = _dataset("Full", ages=range(15, 73), num_items=165_501, archive="tarball")
