"""Which epoch was chosen, and what the epochs after the learning rate fell to 1e-5 would have given."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from onepeak.experiment.records import read_history
from reproduction.runs import FORMS
from reproduction.text import MISSING, number, table

LATE = 200
"""The epoch from which the learning rate is 1e-5; from 300 on it is 1e-6."""
EVERY = 10
"""Of a history this many epochs are kept, and the chosen one."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """What one run's validation part said over its epochs."""

    chosen: int
    chosen_mae: float
    early_mae: float
    """The lowest of every tenth epoch before `LATE`."""
    tenth_mae: float
    """The lowest of every tenth epoch."""
    tenth_soi: float
    """At that epoch."""
    late_mae: float
    """The lowest of every tenth epoch from then on; NaN where the run ended before."""
    by_loss: int
    """The epoch with the lowest loss, of every tenth."""
    by_loss_mae: float
    by_loss_soi: float


def course(history: pd.DataFrame, chosen: int) -> Course:
    """Reads one history.

    Args:
        history: As `benchmarks/keep_records.py` keeps it.
        chosen: The epoch that the run kept.
    """
    # The chosen epoch is kept for being the best of all; beside every tenth epoch it would not be a fair one.
    tenth = history[history["epoch"] % EVERY == 0]
    early, late = tenth[tenth["epoch"] < LATE], tenth[tenth["epoch"] >= LATE]
    best, lowest = (tenth.iloc[int(tenth[column].to_numpy().argmin())] for column in ("valid_mae", "valid_loss"))
    return Course(
        chosen=chosen,
        chosen_mae=float(history.loc[history["epoch"] == chosen, "valid_mae"].iloc[0]),
        early_mae=float(early["valid_mae"].min()),
        tenth_mae=float(best["valid_mae"]),
        tenth_soi=float(best["valid_soi_predicted"]),
        late_mae=float(late["valid_mae"].min()),
        by_loss=int(lowest["epoch"]),
        by_loss_mae=float(lowest["valid_mae"]),
        by_loss_soi=float(lowest["valid_soi_predicted"]),
    )


def courses(runs: pd.DataFrame) -> list[Course]:
    """Of each run."""
    places = zip(runs["folder"], runs["best_epoch"], strict=True)
    return [course(read_history(folder), int(chosen)) for folder, chosen in places]


def epochs_table(runs: pd.DataFrame) -> str:
    """One row a method, form and length of training: validation MAE at the chosen epoch, and at others."""
    rows = []
    for form, title in FORMS.items():
        own = runs[runs["variant"] == form]
        for (_, length), group in own.groupby(["label", "epochs"], sort=False):
            found = courses(group)
            rows.append(
                (
                    str(group["name"].iloc[0]),
                    title,
                    f"{length}",
                    str(group["selected_by"].iloc[0]),
                    ", ".join(str(each.chosen) for each in found),
                    _mean([each.chosen_mae for each in found]),
                    _mean([each.early_mae for each in found]),
                    _mean([each.late_mae for each in found]),
                    ", ".join(str(each.by_loss) for each in found),
                    _mean([each.by_loss_mae for each in found]),
                )
            )
    header = (
        "method", "form", "epochs", "by", "chosen, run by run", "MAE there", f"every tenth before {LATE}",
        f"from {LATE} on", "lowest loss", "MAE there",
    )  # fmt: skip
    return table(header, rows)


def longest_table(runs: pd.DataFrame, longer: pd.DataFrame) -> str:
    """What further epochs of the same schedule change: test MAE of runs on the same splits."""
    keys = ["label", "split", "fold"]
    both = longer.merge(runs, on=keys, suffixes=("_long", ""))
    rows = []
    for _, own in both.groupby("label", sort=False):
        change = own["test_mae_long"] - own["test_mae"]
        rows.append(
            (
                str(own["name"].iloc[0]),
                FORMS[str(own["variant"].iloc[0])],
                ", ".join(str(split) for split in own["split"]),
                _listed(own["epochs"]),
                _listed(own["epochs_long"]),
                _listed(own["best_epoch_long"]),
                number(float(own["test_mae"].mean()), 2),
                number(float(own["test_mae_long"].mean()), 2),
                number(float(change.mean()), 2, signed=True),
            )
        )
    header = (
        "method", "form", "splits", "epochs", "longer", "chosen of the longer", "test MAE", "of the longer", "change",
    )  # fmt: skip
    return table(header, rows)


def chosen_early(runs: pd.DataFrame) -> str:
    """How many of the runs that go on after `LATE` were chosen before it, as a sentence."""
    longer = runs[runs["epochs"] > LATE]
    if longer.empty:
        return f"No run yet goes on after epoch {LATE}."
    early = int((longer["best_epoch"] < LATE).sum())
    latest = longer.sort_values("best_epoch").iloc[-1]
    counts = longer["name"].value_counts(sort=False)
    of_each = ", ".join(f"{name} {count}" for name, count in counts.items())
    return (
        f"Of {len(longer)} runs that go on after epoch {LATE} ({of_each}), {early} have their best validation before "
        f"it; the latest epoch chosen is {latest['best_epoch']}, of {latest['name']}."
    )


def _mean(values: list[float]) -> str:
    known = [value for value in values if not np.isnan(value)]
    return number(float(np.mean(known)), 2) if known else MISSING


def _listed(values: "pd.Series[int]") -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values))
