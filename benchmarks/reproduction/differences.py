"""Our figures minus the printed ones, and methods minus other methods, each with what chance would do."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from onepeak.errors import InputError
from onepeak.experiment.plan import PAPER_METHODS
from onepeak.experiment.published import PublishedFigure, published_figure
from onepeak.experiment.statistics import corrected_t_test, holm, pairs_there_are
from reproduction.records import FORMS, METRICS, SETS, Figure, figure, row

PRINTED_RUNS = {"hci": 100}
"""Assumed number of runs behind a printed deviation, by the published code; ten where not named."""
UNEXPLAINED = "**unexplained**"

Explanations = Mapping[str, Any]
"""By form, metric and method; before that by data set where the reason holds for one only."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One of our figures and the printed one."""

    dataset: str
    method: str
    form: str
    metric: str
    printed: PublishedFigure
    ours: Figure

    @property
    def value(self) -> float:
        """Ours minus the printed one."""
        return self.ours.mean - self.printed.mean

    @property
    def standard_error(self) -> float:
        """Standard error of the difference of two means, as if all runs were independent; NaN for one run.

        Runs on splits of one data set are not independent, so the true error is larger: a difference called large here
        may be chance, one called small is small.
        """
        return math.sqrt(self.printed.std**2 / PRINTED_RUNS.get(self.dataset, 10) + self.ours.std**2 / self.ours.n)

    @property
    def large(self) -> bool | None:
        """Whether it exceeds two standard errors; None if that is unknown."""
        return None if math.isnan(self.standard_error) else abs(self.value) > 2 * self.standard_error


def differences(runs: pd.DataFrame, dataset: str) -> list[Difference]:
    """Every figure of ours on a data set that has a printed one, method by method."""
    found = []
    for method in PAPER_METHODS:
        for metric in METRICS:
            for form in FORMS:
                printed = published_figure(dataset, method, metric)
                ours = figure(row(runs, method, form), f"test_{metric}")
                if printed is not None and ours is not None:
                    found.append(
                        Difference(dataset=dataset, method=method, form=form, metric=metric, printed=printed, ours=ours)
                    )
    return found


def read_explanations(path: Path) -> Explanations:
    """Reads explanations of large differences; checks every key."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    blocks = {name: block for name, block in content.items() if name in FORMS}
    for dataset, forms in content.items():
        if dataset not in FORMS:
            blocks |= {f"{dataset}.{form}": block for form, block in forms.items()}
    for name, metrics in blocks.items():
        dataset, _, form = name.rpartition(".")
        for metric, methods in metrics.items():
            for method in methods:
                if (
                    dataset not in ("", *SETS)
                    or form not in FORMS
                    or metric not in METRICS
                    or method not in PAPER_METHODS
                ):
                    raise InputError(
                        f"{path} must have tables such as [corrected.mae] or [fgnet.corrected.mae] with methods of the "
                        f"paper, got {name}.{metric}.{method}."
                    )
    return content


def explanation(each: Difference, explanations: Explanations) -> str:
    """Why a difference is large; "unexplained" if nothing is known."""
    for block in (explanations.get(each.dataset, {}), explanations):
        reason = block.get(each.form, {}).get(each.metric, {}).get(each.method)
        if reason is not None:
            return str(reason)
    return UNEXPLAINED


@dataclass(frozen=True, kw_only=True)
class Tested:
    """A method's mean difference to another over the runs that both have."""

    mean: float
    p: float
    """The p-value of the corrected resampled t-test, after Holm; NaN for one run."""
    n: int
    above: int
    """On how many of them the method's figure is above the other's."""


def against(runs: pd.DataFrame, column: str, labels: list[str], reference: str) -> list[Tested]:
    """Each method minus the reference; Holm's correction is over all of them.

    Args:
        runs: From `read_runs`.
        column: The column to compare.
        labels: The labels of the methods.
        reference: The label of the reference.
    """
    pairs = [pairs_there_are(runs, column, label, reference) for label in labels]
    tests = [
        corrected_t_test(each.differences, test_train_ratio=each.test_train_ratio)
        if len(each.differences) > 1
        else math.nan
        for each in pairs
    ]
    return [
        Tested(mean=float(found.mean()) if len(found) else math.nan, p=p, n=len(found), above=int((found > 0).sum()))
        for found, p in zip((each.differences for each in pairs), holm(tests), strict=True)
    ]
