"""Compares our figures with the printed ones, and finds the differences that need an explanation."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from onepeak.errors import InputError
from onepeak.experiment.plan import PAPER_METHODS
from onepeak.experiment.published import PublishedFigure, published_figure
from reproduction.runs import DATASET, FORMS, Figure, figure, of_the_paper
from reproduction.text import MINUS, MISSING, number, spread, table

METRICS = {"mae": ("MAE", 2, 1), "soi_predicted": ("SOI %", 1, 100)}
"""The paper's metrics: name, decimals and factor for display."""
PRINTED_RUNS = 10
"""Assumed number of runs behind a printed deviation: the published code makes one run on each of ten splits."""
UNEXPLAINED = "**unexplained**"

Explanations = Mapping[str, Mapping[str, Mapping[str, str]]]
"""By form, metric and method."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One of our figures and the printed one."""

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
        return math.sqrt(self.printed.std**2 / PRINTED_RUNS + self.ours.std**2 / self.ours.n)

    @property
    def large(self) -> bool | None:
        """Whether it exceeds two standard errors; None if that is unknown."""
        return None if math.isnan(self.standard_error) else abs(self.value) > 2 * self.standard_error


def differences(runs: pd.DataFrame) -> list[Difference]:
    """Every figure of ours that has a printed one, method by method."""
    found = []
    own = of_the_paper(runs)
    for method in PAPER_METHODS:
        for metric in METRICS:
            for form in FORMS:
                printed = published_figure(DATASET, method, metric)
                ours = figure(_rows(own, method, form), f"test_{metric}")
                if printed is not None and ours is not None:
                    found.append(Difference(method=method, form=form, metric=metric, printed=printed, ours=ours))
    return found


def paper_table(runs: pd.DataFrame) -> str:
    """The paper's table next to ours in both forms."""
    own = of_the_paper(runs)
    header = ["method"]
    for title, _, _ in METRICS.values():
        header += [f"{title}, paper", *FORMS.values()]
    rows = []
    for method in PAPER_METHODS:
        row = [method.upper()]
        for metric, (_, digits, scale) in METRICS.items():
            printed = published_figure(DATASET, method, metric)
            told = "--" if printed is None else f"{scale * printed.mean:.{digits}f} ± {scale * printed.std:.{digits}f}"
            ours = [figure(_rows(own, method, form), f"test_{metric}") for form in FORMS]
            row += [told, *(spread(each, digits, scale=scale) for each in ours)]
        rows.append(row)
    return table(header, rows)


def differences_table(found: list[Difference], explanations: Explanations) -> str:
    """Every difference in standard errors, with an explanation if it exceeds two."""
    rows = []
    for each in found:
        title, digits, scale = METRICS[each.metric]
        error = each.standard_error
        rows.append(
            (
                each.method.upper(),
                title,
                f"{FORMS[each.form]} ({each.ours.n})",
                number(scale * each.value, digits, signed=True),
                number(scale * error, digits),
                MISSING if each.large is None else f"{abs(each.value) / error:.1f}",
                _why(each, explanations),
            )
        )
    return table(("method", "", "form (runs)", f"ours {MINUS} paper", "SE", "in SE", "if more than two: why"), rows)


def split_table(runs: pd.DataFrame) -> str:
    """MAE by split: shows how much of a mean depends on the splits."""
    own = of_the_paper(runs)
    splits = sorted(set(own["split"]))
    rows = []
    for form, title in FORMS.items():
        for name, row in own[own["variant"] == form].groupby("name", sort=False):
            values = dict(zip(row["split"], row["test_mae"], strict=True))
            rows.append((str(name), title, *(number(values.get(split, math.nan), 2) for split in splits)))
    return table(("method", "form", *(f"split {split}" for split in splits)), rows)


def read_explanations(path: Path) -> Explanations:
    """Reads explanations of large differences from a file with a table for each form and metric; checks every key."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    for form, metrics in content.items():
        for metric, methods in metrics.items():
            for method in methods:
                if form not in FORMS or metric not in METRICS or method not in PAPER_METHODS:
                    raise InputError(
                        f"{path} must have tables such as [corrected.mae] with methods of the paper, got "
                        f"{form}.{metric}.{method}."
                    )
    return content


def _why(each: Difference, explanations: Explanations) -> str:
    if each.large is None:
        return "one run: no standard error"
    if not each.large:
        return "within two"
    return explanations.get(each.form, {}).get(each.metric, {}).get(each.method, UNEXPLAINED)


def _rows(runs: pd.DataFrame, method: str, form: str) -> pd.DataFrame:
    return runs[(runs["method"] == method) & (runs["variant"] == form)]
