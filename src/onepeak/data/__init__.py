"""Data layer: reads ordinal images and tables, makes leak-free splits, and serves batches."""

from typing import TYPE_CHECKING

from onepeak._core.imports import lazy_names

if TYPE_CHECKING:
    from onepeak.data.arrays import from_arrays
    from onepeak.data.datasets import DATASETS, Dataset
    from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Manifest
    from onepeak.data.source import DataSource
    from onepeak.data.tables.frame import from_frame

__all__ = [
    "DATASETS",
    "DataSource",
    "Dataset",
    "FeatureRows",
    "ImageArrays",
    "ImageFiles",
    "Manifest",
    "from_arrays",
    "from_frame",
]

# Lazy imports: decoding workers import this package and should load nothing but Pillow.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "arrays": ["from_arrays"],
        "datasets": ["DATASETS", "Dataset"],
        "manifest": ["FeatureRows", "ImageArrays", "ImageFiles", "Manifest"],
        "source": ["DataSource"],
        "tables.frame": ["from_frame"],
    },
)
