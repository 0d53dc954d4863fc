"""Reads the committed runs of the paper's FG-NET experiment, one row per run."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from onepeak.experiment.plan import PAPER_METHODS
from onepeak.experiment.results import read_results

DATASET = "fgnet"
NUM_CLASSES = 70
FORMS = {"as_published": "as published", "corrected": "corrected"}
"""The variants of a method, as named on the pages."""
SPLITS = 10
WANTED = {"as_published": (len(PAPER_METHODS) - 1) * SPLITS, "corrected": len(PAPER_METHODS) * SPLITS}
"""Runs of the whole experiment; the published PO cannot run on 70 classes."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One metric over the runs of a row."""

    mean: float
    std: float
    """Sample standard deviation; NaN for one run."""
    n: int


def read_runs(folder: Path) -> pd.DataFrame:
    """Reads the runs of a folder.

    Args:
        folder: A folder written by `benchmarks/keep_records.py`.

    Returns:
        The table of `read_results`, plus the column name (of the method on the pages, whatever its form).
    """
    runs: pd.DataFrame = read_results(folder)
    return runs.assign(name=[_name(run) for _, run in runs.iterrows()])


def of_the_paper(runs: pd.DataFrame) -> pd.DataFrame:
    """Keeps the runs that are rows of the paper's table: its seven methods, with its settings."""
    as_there = runs["method"].isin(PAPER_METHODS) & (runs["settings"].map(len) == 0)
    return runs[as_there & (runs["dataset"] == DATASET)]


def figure(runs: pd.DataFrame, column: str) -> Figure | None:
    """Mean and deviation of a column; None if no run has it."""
    if column not in runs or runs[column].isna().all():
        return None
    values = runs[column].dropna()
    return Figure(mean=float(values.mean()), std=float(values.std()), n=len(values))


def steps(runs: pd.DataFrame, *, batch_size: int = 8) -> int:
    """Optimiser steps over all runs; as in the training loop, a last batch of one sample is dropped."""
    rest = runs["num_train"] % batch_size
    return int((runs["epochs"] * (runs["num_train"] // batch_size + (rest > 1))).sum())


def _name(run: pd.Series) -> str:
    """The paper's methods have the paper's names, others their label."""
    ours = run["settings"] or run["method"] not in PAPER_METHODS
    return str(run["label"] if ours else run["method"].upper())
