"""The data sets onepeak reads by name: the paper's five in the layouts they are distributed in, and its own."""

from onepeak.data.datasets.catalog import DATASETS
from onepeak.data.datasets.record import Dataset

__all__ = ["DATASETS", "Dataset"]
