"""From anybody's ordered pictures or tables to batches, with splits that do not leak."""

from onepeak.data.arrays import from_arrays
from onepeak.data.datasets import DATASETS, Dataset
from onepeak.data.frame import from_frame
from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Manifest
from onepeak.data.open import open_data

__all__ = [
    "DATASETS",
    "Dataset",
    "FeatureRows",
    "ImageArrays",
    "ImageFiles",
    "Manifest",
    "from_arrays",
    "from_frame",
    "open_data",
]
