"""Historical Color Images: photographs, classified by decade."""

from functools import partial
from pathlib import Path

from onepeak.data.datasets.record import Dataset, has_folder, locate, read_class_folders
from onepeak.data.manifest import Manifest

CLASSES = ("1930s", "1940s", "1950s", "1960s", "1970s")
LAYOUT = "1930s/*.jpg to 1970s/*.jpg"

_FOLDERS = {name: name for name in CLASSES}
_INSIDE = ("decade_database", "data/imgs/decade_database", "HistoricalColor-ECCV2012/data/imgs/decade_database")


def read_hci(root: Path) -> Manifest:
    """Reads the decade database: five folders of 265 photographs."""
    folder = locate(root, inside=_INSIDE, holds=partial(has_folder, names=_FOLDERS), layout=LAYOUT)
    return read_class_folders(folder, name="hci", classes=CLASSES, folders=_FOLDERS)


HCI = Dataset(
    name="hci",
    title="Historical Color Images: photographs by decade, 1930s to 1970s",
    classes=CLASSES,
    num_items=1325,
    num_per_class=265,
    layout=LAYOUT,
    obtain="Download HistoricalColor-ECCV2012-DecadeDatabase.tar from "
    "http://graphics.cs.cmu.edu/projects/historicalColor/ and unpack it.",
    terms="research; the photographs belong to their authors",
    reference="Palermo, Hays and Efros 2012, ECCV",
    read=read_hci,
)
