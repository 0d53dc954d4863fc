"""Every method against ELB on the same splits: is the difference real?"""

import pandas as pd

from onepeak.experiment.pairing import paired
from onepeak.experiment.significance import corrected_t_test, holm
from reproduction.runs import FORMS
from reproduction.text import number, p_value, table

COLUMNS = {"test_mae": (2, 1), "test_soi_predicted": (1, 100), "tempered_rps": (2, 1)}
"""What is tested, with the decimals and the factor that it is shown with."""


def against_table(runs: pd.DataFrame) -> str:
    """Mean paired differences to the ELB of the same form, each with its p-value."""
    rows = [row for form in FORMS for row in _rows_of(runs[runs["variant"] == form], form)]
    header = ("method", "form", "splits of both", "MAE less ELB's", "p", "SOI less ELB's", "p", "RPS less ELB's", "p")
    return table(header, rows)


def _rows_of(runs: pd.DataFrame, form: str) -> list[list[str]]:
    reference = runs.loc[runs["name"] == "ELB", "label"]
    labels = [label for label in dict.fromkeys(runs["label"]) if label not in set(reference)]
    if reference.empty or not labels:
        return []
    names = dict(zip(runs["label"], runs["name"], strict=True))
    rows = [[names[label], FORMS[form]] for label in labels]
    for place, (column, (digits, scale)) in enumerate(COLUMNS.items()):
        pairs = [paired(runs, column, label, str(reference.iloc[0])) for label in labels]
        tests = [
            corrected_t_test(each.differences, test_train_ratio=each.test_train_ratio)
            if len(each.differences) > 1
            else float("nan")
            for each in pairs
        ]
        for row, each, corrected in zip(rows, pairs, holm(tests), strict=True):
            if place == 0:
                row.append(str(len(each.differences)))
            mean = float(each.differences.mean()) if len(each.differences) else float("nan")
            row += [number(scale * mean, digits, signed=True), p_value(corrected)]
    return rows
