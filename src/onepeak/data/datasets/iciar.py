"""ICIAR 2018, the BACH challenge, part A: breast biopsies in four grades."""

from dataclasses import replace
from pathlib import Path

from onepeak.data.datasets.class_folders import has_folder, read_class_folders
from onepeak.data.datasets.layout import locate
from onepeak.data.datasets.record import Dataset
from onepeak.data.manifest import Manifest

CLASSES = ("Normal", "Benign", "InSitu", "Invasive")
LAYOUT = "Normal/*.tif, Benign/*.tif, InSitu/*.tif and Invasive/*.tif"

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
    """Reads the microscopy images (400 TIFFs of 2048 x 1536), not the whole slides.

    Args:
        root: The folder of the four class folders (`Photos`), or the one into which it was unpacked.
    """
    folder = locate(root, inside=_INSIDE, holds=lambda place: has_folder(place, _FOLDERS), layout=LAYOUT)
    manifest = read_class_folders(folder, name="iciar", classes=CLASSES, folders=_FOLDERS, suffixes=(".tif", ".tiff"))
    return replace(
        manifest,
        notes=(*manifest.notes, "the folders do not name the patients: one may be in several parts of a split"),
    )


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
