"""Data layer: reads ordinal images and tables, makes leak-free splits, and serves batches."""

from typing import TYPE_CHECKING

from onepeak._lazy import lazy_names

if TYPE_CHECKING:
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

# Lazy imports: decoding workers import this package and should load nothing but Pillow.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "arrays": ["from_arrays"],
        "datasets": ["DATASETS", "Dataset"],
        "frame": ["from_frame"],
        "manifest": ["FeatureRows", "ImageArrays", "ImageFiles", "Manifest"],
        "open": ["open_data"],
    },
)
