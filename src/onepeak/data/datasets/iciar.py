"""ICIAR 2018, the BACH challenge, part A: breast biopsies in four grades."""

import csv
import io
from dataclasses import replace
from functools import partial
from pathlib import Path

from onepeak._core.files import read_text
from onepeak._core.wording import counted
from onepeak.data.datasets.record import Dataset, has_folder, locate, read_class_folders
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.errors import InputError

CLASSES = ("Normal", "Benign", "InSitu", "Invasive")
LAYOUT = "the images in Normal/, Benign/, InSitu/ and Invasive/"

_FOLDERS = {
    "normal": "Normal",
    "benign": "Benign",
    "insitu": "InSitu",
    "insitucarcinoma": "InSitu",
    "invasive": "Invasive",
    "invasivecarcinoma": "Invasive",
}
_INSIDE = ("Photos", "ICIAR2018_BACH_Challenge/Photos", "ICIAR2018_BACH_Challenge")


def read_iciar(root: Path) -> Manifest:
    """Reads the microscopy images (400, as distributed of 2048 x 1536), not the whole slides.

    A CSV whose name contains "patient", in the folder or the one above it, names the patient of each image, as the
    challenge published it: the patients become the groups. As its authors say, an image that it does not name comes
    from a patient of its own.
    """
    folder = locate(root, inside=_INSIDE, holds=partial(has_folder, names=_FOLDERS), layout=LAYOUT)
    manifest = read_class_folders(folder, name="iciar", classes=CLASSES, folders=_FOLDERS)
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
    classes=CLASSES,
    num_items=400,
    num_per_class=100,
    layout=LAYOUT,
    obtain="Download ICIAR2018_BACH_Challenge.zip from https://doi.org/10.5281/zenodo.3632035 and unpack it.",
    terms="CC BY-NC-ND 4.0",
    reference="Aresta et al. 2019, Medical Image Analysis 56",
    read=read_iciar,
)
