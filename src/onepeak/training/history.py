"""The history of a run on disk: one row per epoch."""

from pathlib import Path

from onepeak._extras import require
from onepeak._one_step import write_in_one_step

HISTORY = "history.csv"


def write_history(history: list[dict[str, float]], folder: Path) -> None:
    """Writes `history.csv`. It is called with every checkpoint, so that a stopped run has its history too."""
    pandas = require("pandas", extra="data", purpose="The history")
    write_in_one_step(folder / HISTORY, lambda part: pandas.DataFrame(history).to_csv(part, index=False))
