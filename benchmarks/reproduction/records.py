"""Reads the committed runs of the paper's experiments, one row per run, and finds the rows of its tables in them."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from onepeak.data.datasets import DATASETS
from onepeak.experiment.plan import PAPER_METHODS
from onepeak.experiment.results import read_results

TABLES = {1: ("iciar", "hci"), 2: ("afad-lite", "afad-full", "fgnet")}
"""The data sets of the paper's tables, in its order."""
SETS = {"iciar": "ICIAR", "hci": "HCI", "afad-lite": "AFAD-Lite", "afad-full": "AFAD-Full", "fgnet": "FG-NET"}
"""The paper's data sets by number of classes, with their titles."""
FORMS = {"as_published": "as published", "corrected": "corrected"}
"""The variants of a method, as named on the pages."""
METRICS = {"mae": ("MAE", 2, 1), "soi_predicted": ("SOI %", 1, 100)}
"""The paper's metrics: title, decimals and factor for display."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One metric over the runs of a row."""

    mean: float
    std: float
    """Sample standard deviation; NaN for one run."""
    n: int


def read_runs(folder: Path) -> pd.DataFrame:
    """Reads the runs of a folder written by `benchmarks/keep_records.py`; an empty table if there is none.

    Returns:
        The table of `read_results`, plus the column name (the paper's, whatever the form, or the label).
    """
    if not any(folder.glob("runs/*/*/result.json")):
        return pd.DataFrame(columns=["label", "method", "variant", "dataset", "protocol", "split", "fold", "name"])
    runs: pd.DataFrame = read_results(folder)
    return runs.assign(name=[name_of(str(label)) for label in runs["label"]])


def read_sets(folder: Path) -> dict[str, pd.DataFrame]:
    """Reads the runs of every data set of the paper, from folders that have the sets' names."""
    return {name: read_runs(folder / name) for name in SETS}


def label_of(method: str, form: str) -> str:
    """The label of a row of the paper in the experiment files: settings of a data set do not change it."""
    return method if form == "corrected" else f"{method}-{form}"


def name_of(label: str) -> str:
    """The paper's name of a row, whatever its form; other rows keep their label.

    Example:
        >>> name_of("elb-as_published"), name_of("smooth-slopes")
        ('ELB', 'smooth-slopes')
    """
    method = label.removesuffix("-as_published")
    return method.upper() if method in PAPER_METHODS else label


def row(runs: pd.DataFrame, method: str, form: str) -> pd.DataFrame:
    """The runs of one of the paper's methods in one form."""
    return runs[runs["label"] == label_of(method, form)]


def own_labels(runs: pd.DataFrame) -> list[str]:
    """The rows that are not the paper's, in their order."""
    theirs = {label_of(method, form) for method in PAPER_METHODS for form in FORMS}
    return [str(label) for label in dict.fromkeys(runs["label"]) if label not in theirs]


def figure(runs: pd.DataFrame, column: str) -> Figure | None:
    """Mean and deviation of a column; None if no run has it."""
    if column not in runs or runs[column].isna().all():
        return None
    values = runs[column].dropna().astype(float)
    return Figure(mean=float(values.mean()), std=float(values.std()), n=len(values))


def num_classes(name: str) -> int:
    """The number of classes of one of the paper's data sets."""
    return len(DATASETS[name].classes)
