"""Compares every method with a reference on the same splits: is the difference significant?"""

from dataclasses import dataclass

import pandas as pd

from onepeak.experiment.statistics import corrected_t_test, holm, paired
from reproduction.runs import FORMS
from reproduction.text import MINUS, number, p_value, table

COLUMNS = {"test_mae": (2, 1), "test_soi_predicted": (1, 100), "test_rps_calibrated": (2, 1)}
"""The metrics tested, with decimals and factor for display."""


@dataclass(frozen=True, kw_only=True)
class Tested:
    """A method's mean difference to another over the splits that both have."""

    mean: float
    p: float
    """The p-value of the corrected resampled t-test, after Holm; NaN for one split."""
    n: int


def against(runs: pd.DataFrame, column: str, labels: list[str], reference: str) -> list[Tested]:
    """Each method minus the reference; Holm's correction is over all of them.

    Args:
        runs: From `read_runs`, of one form.
        column: The column to compare.
        labels: The labels of the methods.
        reference: The label of the reference.
    """
    pairs = [paired(runs, column, label, reference) for label in labels]
    tests = [
        corrected_t_test(each.differences, test_train_ratio=each.test_train_ratio)
        if len(each.differences) > 1
        else float("nan")
        for each in pairs
    ]
    return [
        Tested(mean=float(found.mean()) if len(found) else float("nan"), p=p, n=len(found))
        for found, p in zip((each.differences for each in pairs), holm(tests), strict=True)
    ]


def against_table(runs: pd.DataFrame) -> str:
    """Mean paired differences to the ELB of the same form, with p-values."""
    rows = [row for form in FORMS for row in _rows_of(runs[runs["variant"] == form], form)]
    differences = [cell for name in ("MAE", "SOI", "RPS") for cell in (f"{name} {MINUS} ELB's", "p")]
    return table(("method", "form", "shared splits", *differences), rows)


def _rows_of(runs: pd.DataFrame, form: str) -> list[list[str]]:
    reference = runs.loc[runs["name"] == "ELB", "label"]
    labels = [label for label in dict.fromkeys(runs["label"]) if label not in set(reference)]
    if reference.empty or not labels:
        return []
    names = dict(zip(runs["label"], runs["name"], strict=True))
    found = {column: against(runs, column, labels, str(reference.iloc[0])) for column in COLUMNS}
    rows = []
    for place, label in enumerate(labels):
        row = [names[label], FORMS[form], str(found["test_mae"][place].n)]
        for column, (digits, scale) in COLUMNS.items():
            each = found[column][place]
            row += [number(scale * each.mean, digits, signed=True), p_value(each.p)]
        rows.append(row)
    return rows
