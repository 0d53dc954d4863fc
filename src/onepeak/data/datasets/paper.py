"""The five data sets of Belharbi et al. 2019, in the layouts of their distributions."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from onepeak._core.files import read_text
from onepeak._core.wording import counted, listed
from onepeak.data.datasets.record import Dataset, locate
from onepeak.data.images.folder import scan
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.order import letters
from onepeak.errors import InputError

Reading = tuple[str, str | None]
"""The class of an image, and its person or gender if its path names them."""


def _manifest(name: str, root: Path, classes: tuple[str, ...], read: Callable[[str], Reading | None]) -> Manifest:
    """Reads all images below a folder by their paths; those of which `read` gives no class are left out, with a note.

    What `read` gives beside the class are the groups.
    """
    found = scan(root)
    images = {path: reading for path in found.images if (reading := read(path)) is not None}
    notes = list(found.notes())
    if others := [path for path in found.images if path not in images]:
        notes.append(f"left out {counted(len(others), 'image')} not part of the set: {listed(others, limit=4)}")
    position = {label: index for index, label in enumerate(classes)}
    others_known = tuple(other for _, other in images.values() if other is not None)
    return Manifest(
        name=name,
        items=ImageFiles(root=root, paths=tuple(images)),
        labels=np.array([position[label] for label, _ in images.values()], dtype=np.int64),
        classes=classes,
        groups=others_known or None,
        notes=tuple(notes),
    )


def _has_folder(folder: Path, *, names: Iterable[str]) -> bool:
    """Whether a folder contains at least one of the class folders, by the `letters` of its name."""
    return any(entry.is_dir() and letters(entry.name) in names for entry in folder.iterdir())


def _class_of(path: str, *, folders: Mapping[str, str]) -> Reading | None:
    """Returns the class of the folder that an image is in; `folders` has the class of each, by its `letters`."""
    top, _, rest = path.partition("/")
    return (folders[letters(top)], None) if rest and letters(top) in folders else None


_GRADES = ("Normal", "Benign", "InSitu", "Invasive")
_GRADE_FOLDERS = {letters(name): name for name in _GRADES} | {
    "insitucarcinoma": "InSitu",
    "invasivecarcinoma": "Invasive",
}
_ICIAR_LAYOUT = "the images in Normal/, Benign/, InSitu/ and Invasive/"


def _read_iciar(root: Path) -> Manifest:
    """Reads the microscopy images (400, as distributed of 2048 x 1536), not the whole slides.

    A CSV whose name contains "patient", in the folder or the one above it, names the patient of each image, as the
    challenge published it: the patients become the groups. As its authors say, an image that it does not name comes
    from a patient of its own.
    """
    inside = ("Photos", "ICIAR2018_BACH_Challenge/Photos", "ICIAR2018_BACH_Challenge")
    folder = locate(root, inside=inside, holds=partial(_has_folder, names=_GRADE_FOLDERS), layout=_ICIAR_LAYOUT)
    manifest = _manifest("iciar", folder, _GRADES, partial(_class_of, folders=_GRADE_FOLDERS))
    tables = [file for each in (folder, folder.parent) for file in sorted(each.glob("*.csv"))]
    lists = [file for file in tables if "patient" in file.stem.lower()]
    if not lists:
        unknown = "no file names the patients: one may be in several parts of a split"
        return replace(manifest, notes=(*manifest.notes, unknown))
    groups = _patients(lists[0], manifest)
    known = f"{lists[0].name} names {counted(len(set(groups)), 'patient')}"
    return replace(manifest, groups=groups, notes=(*manifest.notes, known))


def _patients(file: Path, manifest: Manifest) -> tuple[str, ...]:
    """Returns the patient of every image, from rows of an image's name and its patient, in either order."""
    assert isinstance(manifest.items, ImageFiles)
    names = [Path(path).stem.lower() for path in manifest.items.paths]
    patients: dict[str, str] = {}
    for row in csv.reader(io.StringIO(read_text(file))):
        cells = [cell.strip() for cell in row if cell.strip()]
        images = [cell for cell in cells if Path(cell).stem.lower() in names]
        others = [cell for cell in cells if cell not in images]
        if len(images) == 1 and len(others) == 1:
            patients[Path(images[0]).stem.lower()] = others[0]
    if not patients:
        raise InputError(
            f"{file} must name an image and its patient in each row, such as n001.tif,17; got no such row."
        )
    return tuple(patients.get(name, f"only {name}") for name in names)


ICIAR = Dataset(
    name="iciar",
    title="BACH part A: breast biopsies, four grades",
    classes=_GRADES,
    num_items=400,
    num_per_class=100,
    layout=_ICIAR_LAYOUT,
    obtain="Download ICIAR2018_BACH_Challenge.zip from https://doi.org/10.5281/zenodo.3632035 and unpack it.",
    terms="CC BY-NC-ND 4.0",
    reference="Aresta et al. 2019, Medical Image Analysis 56",
    read=_read_iciar,
)


_DECADES = ("1930s", "1940s", "1950s", "1960s", "1970s")
_HCI_LAYOUT = "1930s/*.jpg to 1970s/*.jpg"


def _read_hci(root: Path) -> Manifest:
    """Reads the decade database: five folders of 265 photographs."""
    inside = ("decade_database", "data/imgs/decade_database", "HistoricalColor-ECCV2012/data/imgs/decade_database")
    folder = locate(root, inside=inside, holds=partial(_has_folder, names=_DECADES), layout=_HCI_LAYOUT)
    return _manifest("hci", folder, _DECADES, partial(_class_of, folders={name: name for name in _DECADES}))


HCI = Dataset(
    name="hci",
    title="Historical Color Images: photographs by decade, 1930s to 1970s",
    classes=_DECADES,
    num_items=1325,
    num_per_class=265,
    layout=_HCI_LAYOUT,
    obtain="Download HistoricalColor-ECCV2012-DecadeDatabase.tar from "
    "http://graphics.cs.cmu.edu/projects/historicalColor/ and unpack it.",
    terms="research; the photographs belong to their authors",
    reference="Palermo, Hays and Efros 2012, ECCV",
    read=_read_hci,
)


_FGNET_AGES = tuple(map(str, range(70)))
_FGNET_LAYOUT = "images/001A02.JPG (subject 1 at the age of 2; a letter may follow the age)"
_FGNET_NAME = re.compile(r"(?P<subject>\d{3})a(?P<age>\d{2})[a-z]?\.jpe?g", re.IGNORECASE)


def _read_fgnet(root: Path) -> Manifest:
    """Reads age and subject from the file names; the classes are the ages 0 to 69, including those without images."""

    def holds(folder: Path) -> bool:
        return any(_FGNET_NAME.fullmatch(entry.name) for entry in folder.iterdir())

    def face(path: str) -> Reading | None:
        match = _FGNET_NAME.fullmatch(path)
        age = "" if match is None else str(int(match["age"]))
        return (age, match["subject"]) if match is not None and age in _FGNET_AGES else None

    inside = ("images", "FGNET/images", "FG-NET/images", "FGNET", "FG-NET")
    return _manifest("fgnet", locate(root, inside=inside, holds=holds, layout=_FGNET_LAYOUT), _FGNET_AGES, face)


FGNET = Dataset(
    name="fgnet",
    title="FG-NET: faces of 82 persons, ages 0 to 69",
    classes=_FGNET_AGES,
    num_items=1002,
    num_groups=82,
    layout=_FGNET_LAYOUT,
    obtain="Download FGNET.zip from https://yanweifu.github.io/FG_NET_data/ and unpack it.",
    terms="research only",
    reference="Panis et al. 2016, IET Biometrics 5",
    read=_read_fgnet,
)


_GENDERS = {"111": "male", "112": "female"}
_AFAD_LAYOUT = "<age>/111/*.jpg (male) and <age>/112/*.jpg (female)"


def _read_afad(root: Path, *, name: str, ages: tuple[str, ...], inside: tuple[str, ...]) -> Manifest:
    """Reads one folder per age with one per gender in it; the gender is the stratum."""

    def holds(folder: Path) -> bool:
        return any((folder / age / gender).is_dir() for age in ages for gender in _GENDERS)

    def face(path: str) -> Reading | None:
        match path.split("/"):
            case [age, gender, _] if age in ages and gender in _GENDERS:
                return age, _GENDERS[gender]
        return None

    manifest = _manifest(name, locate(root, inside=inside, holds=holds, layout=_AFAD_LAYOUT), ages, face)
    genders = manifest.groups or ()
    counts = ", ".join(f"{genders.count(gender):,} {gender}" for gender in _GENDERS.values())
    return replace(
        manifest, groups=None, strata=genders, subgroups={"gender": genders}, notes=(*manifest.notes, counts)
    )


def _afad(size: str, *, ages: range, num_items: int, archive: str) -> Dataset:
    name, folder, classes = f"afad-{size.lower()}", f"AFAD-{size}", tuple(map(str, ages))
    inside = (folder, f"{archive}/{folder}", f"{archive}-master/{folder}")
    return Dataset(
        name=name,
        title=f"{folder}: faces, ages {ages[0]} to {ages[-1]}",
        classes=classes,
        num_items=num_items,
        layout=_AFAD_LAYOUT,
        obtain=f"Clone https://github.com/afad-dataset/{archive}, join its parts and unpack them as its README says.",
        terms="academic research only",
        reference="Niu et al. 2016, CVPR",
        read=partial(_read_afad, name=name, ages=classes, inside=inside),
    )


# 22 classes, as in the set itself; "15 to 39" in Belharbi et al. 2019 is an error.
AFAD_LITE = _afad("Lite", ages=range(18, 40), num_items=59_344, archive="tarball-lite")
AFAD_FULL = _afad("Full", ages=range(15, 73), num_items=165_501, archive="tarball")
