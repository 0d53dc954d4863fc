"""Which epoch was selected, and what the epochs after the learning rate fell to 1e-5 would have given."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from onepeak.experiment.results import read_history
from reproduction.runs import FORMS
from reproduction.text import MISSING, number, table

LATE = 200
"""The epoch from which the learning rate is 1e-5."""
LAST_STEP = 300
"""The epoch from which it is 1e-6 or less."""
EVERY = 10
"""The committed histories keep one epoch in this many, and the selected one."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """Validation results of one run over its epochs."""

    chosen: int
    chosen_mae: float
    early_mae: float
    """The lowest of every tenth epoch before `LATE`."""
    tenth_mae: float
    """The lowest of every tenth epoch."""
    tenth_soi: float
    """The SOI at that epoch."""
    late_mae: float
    """The lowest of every tenth epoch from `LATE` on; NaN if the run ended before."""
    by_loss: int
    """The epoch with the lowest loss, among every tenth."""
    by_loss_mae: float
    by_loss_soi: float


def course(history: pd.DataFrame, chosen: int) -> Course:
    """Summarises one history.

    Args:
        history: As kept by `benchmarks/keep_records.py`.
        chosen: The epoch that the run selected.
    """
    # The selected epoch is the best of all epochs, so comparing it with every tenth epoch would not be fair.
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
    """Summarises the history of each run."""
    places = zip(runs["folder"], runs["best_epoch"], strict=True)
    return [course(read_history(folder), int(chosen)) for folder, chosen in places]


def epochs_table(runs: pd.DataFrame) -> str:
    """One row per method, form and length of training: validation MAE at the selected epoch, and at others."""
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
        "method", "form", "epochs", "chosen by", "chosen epoch per run", "its MAE", f"lowest MAE before {LATE}",
        f"lowest MAE from {LATE} on", "epoch of lowest loss", "its MAE",
    )  # fmt: skip
    return table(header, rows)


def longest_table(runs: pd.DataFrame, longer: pd.DataFrame) -> str:
    """The effect of further epochs of the same schedule: the selected epoch, and the errors on the same splits."""
    both = longer.merge(runs, on=["label", "split", "fold"], suffixes=("_long", ""))
    rows = []
    for _, own in both.groupby("label", sort=False):
        change = own["test_mae_long"] - own["test_mae"]
        rows.append(
            (
                str(own["name"].iloc[0]),
                ", ".join(str(split) for split in own["split"]),
                *_length(own, ""),
                *_length(own, "_long"),
                number(float(change.mean()), 2, signed=True),
            )
        )
    each = ("epochs", "chosen", "validation MAE", "test MAE")
    return table(("method", "splits", *each, *(f"longer: {name}" for name in each), "change in test MAE"), rows)


def plateau_table(longer: pd.DataFrame) -> str:
    """Validation MAE and SOI before and after the learning rate falls to 1e-6, means over runs and every tenth epoch.

    The deviation is that of one run over its epochs: the noise between epochs.
    """
    rows = []
    for _, own in longer.groupby("label", sort=False):
        histories = [read_history(folder) for folder in own["folder"]]
        rows.append(
            (
                str(own["name"].iloc[0]),
                ", ".join(str(split) for split in own["split"]),
                *_before_and_after([history.set_index("epoch")["valid_mae"] for history in histories], 2),
                *_before_and_after(
                    [100 * history.set_index("epoch")["valid_soi_predicted"] for history in histories], 1
                ),
            )
        )
    span = (f"epochs {LATE} to {LAST_STEP - 1}", f"from {LAST_STEP} on", "change")
    return table(("method", "splits", *(f"{name}, {each}" for name in ("MAE", "SOI %") for each in span)), rows)


def chosen_early(runs: pd.DataFrame) -> str:
    """How many runs that continue after `LATE` selected an epoch before it, as a sentence; one run per split."""
    longer = runs[runs["epochs"] > LATE]
    longer = longer.loc[longer.groupby(["label", "split", "fold"], sort=False)["epochs"].idxmax()]
    if longer.empty:
        return f"No run yet continues past epoch {LATE}."
    early = int((longer["best_epoch"] < LATE).sum())
    latest = longer.sort_values("best_epoch").iloc[-1]
    counts = longer["name"].value_counts(sort=False)
    of_each = ", ".join(f"{name} {count}" for name, count in counts.items())
    return (
        f"{len(longer)} runs continue past epoch {LATE} ({of_each}). {early} of them have their best validation before "
        f"it; the latest epoch chosen is {latest['best_epoch']} ({latest['name']})."
    )


def _mean(values: list[float]) -> str:
    known = [value for value in values if not np.isnan(value)]
    return number(float(np.mean(known)), 2) if known else MISSING


def _length(own: pd.DataFrame, suffix: str) -> tuple[str, ...]:
    """Cells for the runs of one length: epochs, the selected epoch, and the errors there."""
    chosen = [
        course(read_history(folder), int(epoch)).chosen_mae
        for folder, epoch in zip(own[f"folder{suffix}"], own[f"best_epoch{suffix}"], strict=True)
    ]
    return (
        _listed(own[f"epochs{suffix}"]),
        ", ".join(str(epoch) for epoch in own[f"best_epoch{suffix}"]),
        number(float(np.mean(chosen)), 3),
        number(float(own[f"test_mae{suffix}"].mean()), 2),
    )


def _before_and_after(courses_of: "list[pd.Series[float]]", digits: int) -> tuple[str, str, str]:
    """Mean and deviation over every tenth epoch between `LATE` and `LAST_STEP`, then from there on, and the change."""
    tenth = [values[values.index % EVERY == 0] for values in courses_of]
    spans = [
        [values[(values.index >= LATE) & (values.index < LAST_STEP)] for values in tenth],
        [values[values.index >= LAST_STEP] for values in tenth],
    ]
    means = [float(np.mean([values.mean() for values in span])) for span in spans]
    deviations = [float(np.mean([values.std() for values in span])) for span in spans]
    before, after = (
        f"{number(mean, digits)} ± {number(deviation, digits)}"
        for mean, deviation in zip(means, deviations, strict=True)
    )
    return before, after, number(means[1] - means[0], digits, signed=True)


def _listed(values: "pd.Series[int]") -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values))
