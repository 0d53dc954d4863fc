"""What was tried to explain differences from the printed errors: settings of the published code, one at a time."""

from pathlib import Path

import numpy as np
import pandas as pd

from onepeak._core.wording import counted
from onepeak.experiment.results import PREDICTIONS, read_predictions
from reproduction.epochs import Course, courses
from reproduction.runs import of_the_paper
from reproduction.text import number, table

BY_LOSS = ("CE", "REN", "LD", "MV")
"""For these methods the published code keeps the epoch with the lowest validation loss."""


def tried_table(runs: pd.DataFrame, shorter: pd.DataFrame, divided: pd.DataFrame) -> str:
    """Lists each setting with its effect.

    Args:
        runs: From `read_runs`.
        shorter: Runs of 60 epochs on the same splits.
        divided: Runs of LD as published whose divergence is also averaged over the classes.
    """
    own = of_the_paper(runs)
    own = own[own["variant"] == "corrected"]
    rows = []
    for name in BY_LOSS:
        if len(chosen := own[own["name"] == name]):
            found = courses(chosen)
            mae, there = (_mean(found, name) for name in ("by_loss_mae", "tenth_mae"))
            soi, order = (100 * _mean(found, name) for name in ("by_loss_soi", "tenth_soi"))
            rows.append(
                (
                    f"{name}: keep the epoch with the lowest loss, as the code does",
                    f"validation MAE {number(mae, 2)} instead of {number(there, 2)}, SOI {number(soi, 1)} % instead of "
                    f"{number(order, 1)} % (every tenth epoch, {counted(len(found), 'run')})",
                )
            )
    if rounding := _rounded_down(own[own["name"] == "MV"]):
        rows.append(("MV: round the mean down, as the code does", rounding))
    rows += _divided(runs, divided) + _shorter(own, of_the_paper(shorter))
    return table(("change", "effect"), rows)


def _mean(found: list[Course], name: str) -> float:
    return float(np.mean([getattr(each, name) for each in found]))


def _rounded_down(runs: pd.DataFrame) -> str:
    """The test error with both roundings, on the splits whose predictions are kept."""
    found = []
    for folder in (folder for folder in runs["folder"] if Path(folder, PREDICTIONS).exists()):
        part = read_predictions(folder, columns=["label", "log_probs"], part="test")
        probs = np.exp(part["log_probs"].astype(np.float64))
        means = probs @ np.arange(probs.shape[1]) / probs.sum(axis=1)
        found.append([np.abs(decide(means) - part["label"]).mean() for decide in (np.floor, np.rint)])
    if not found:
        return ""
    down, nearest = (float(mean) for mean in np.mean(found, axis=0))
    return f"test MAE {number(down, 2)} instead of {number(nearest, 2)} ({counted(len(found), 'split')})"


def _divided(runs: pd.DataFrame, divided: pd.DataFrame) -> list[tuple[str, str]]:
    published = of_the_paper(runs)
    published = published[(published["name"] == "LD") & (published["variant"] == "as_published")]
    both = divided.merge(published, on=["split", "fold"], suffixes=("_divided", ""))
    if both.empty:
        return []
    there, here = (float(both[column].mean()) for column in ("test_mae_divided", "test_mae"))
    tried = "LD as published: average the divergence over the 70 classes as well as over the samples"
    return [(tried, f"test MAE {number(there, 2)} instead of {number(here, 2)} ({counted(len(both), 'split')})")]


def _shorter(runs: pd.DataFrame, shorter: pd.DataFrame) -> list[tuple[str, str]]:
    both = shorter.merge(runs, on=["label", "split", "fold"], suffixes=("_short", ""))
    parts: dict[int, list[str]] = {}
    for name, own in both.groupby("name", sort=False):
        short, here = (float(own[column].mean()) for column in ("test_mae_short", "test_mae"))
        parts.setdefault(len(own), []).append(f"{name} {number(short, 2)} instead of {number(here, 2)}")
    found = "; ".join(f"{', '.join(each)} ({counted(splits, 'split')})" for splits, each in parts.items())
    return [("60 epochs, dividing the learning rate every 20", f"test MAE {found}")] if parts else []
