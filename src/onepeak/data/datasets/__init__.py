"""The data sets that onepeak knows by name: the paper's five, in the layouts of their distributions, and its own."""

from onepeak.data.datasets.catalog import DATASETS
from onepeak.data.datasets.record import Dataset

__all__ = ["DATASETS", "Dataset"]
