"""How many posteriors have one peak, before and after projection, and how good their probabilities are."""

import math
from pathlib import Path

import pandas as pd
import torch

from onepeak.experiment.results import PREDICTIONS, read_predictions
from onepeak.posterior import is_unimodal, project
from reproduction.runs import FORMS, figure
from reproduction.text import MISSING, number, spread, table


def order_table(runs: pd.DataFrame) -> str:
    """One row per method and form."""
    header = (
        "method", "form", "one-peaked %", "after projection %", "temperature", "RPS as trained", "RPS, tempered",
        "NLL, tempered", "labels in 90 % interval", "true ages within %",
    )  # fmt: skip
    rows = []
    for form, title in FORMS.items():
        for _, own in runs[runs["variant"] == form].groupby("label", sort=False):
            after = one_peaked_after_projection(own)
            rows.append(
                (
                    str(own["name"].iloc[0]),
                    title,
                    spread(figure(own, "test_unimodal"), 1, scale=100),
                    MISSING if math.isnan(after) else number(100 * after, 1),
                    number(float(own["temperature"].mean()), 1),
                    spread(figure(own, "test_rps"), 2),
                    spread(figure(own, "test_rps_calibrated"), 2),
                    spread(figure(own, "test_nll_calibrated"), 2),
                    spread(figure(own, "test_interval_size"), 1),
                    number(100 * float(own["test_interval_coverage"].mean()), 0),
                )
            )
    return table(header, rows)


def one_peaked_after_projection(runs: pd.DataFrame) -> float:
    """The share of projected test posteriors with one strict peak, in the runs whose predictions are kept.

    Args:
        runs: The runs of one row.

    Returns:
        The share; NaN if no predictions are kept.
    """
    kept = [folder for folder in runs["folder"] if Path(folder, PREDICTIONS).exists()]
    parts = [torch.tensor(read_predictions(folder, columns=["log_probs"], part="test")["log_probs"]) for folder in kept]
    return float(is_unimodal(project(torch.cat(parts))).double().mean()) if parts else math.nan
