"""The history of a run on disk: a row an epoch."""

import math
from pathlib import Path

from onepeak._extras import require
from onepeak._one_step import write_in_one_step
from onepeak.metrics.catalog import METRICS

HISTORY = "history.csv"


def write_history(history: list[dict[str, float]], folder: Path) -> None:
    """Writes `history.csv`; with every checkpoint, so that who stops a run still sees how it went."""
    pandas = require("pandas", extra="data", purpose="The history")
    write_in_one_step(folder / HISTORY, lambda part: pandas.DataFrame(history).to_csv(part, index=False))


def values_to_lower(folder: Path, selected_by: str) -> list[float]:
    """What chose the epoch, after every one, turned so that the lowest is the best; nothing where none was chosen.

    Args:
        folder: Of the run.
        selected_by: The validation metric, "loss", or "last".
    """
    if selected_by == "last":
        return []
    pandas = require("pandas", extra="data", purpose="The history")
    values = pandas.read_csv(folder / HISTORY)[f"valid_{selected_by}"]
    higher = selected_by != "loss" and METRICS[selected_by].higher_is_better
    listed: list[float] = (-values if higher else values).fillna(math.inf).tolist()  # undefined is never the best
    return listed
