"""The one comparison that was meant before any run: it is tested alone, so no result may have a part in choosing it."""

from collections.abc import Collection
from dataclasses import dataclass

from onepeak._core.imports import Frame
from onepeak._core.registry import unknown_name
from onepeak.errors import InputError
from onepeak.experiment.statistics import corrected_t_test, paired

METHOD, BASELINE = "elb", "ce"
"""The question of Belharbi et al. 2019: the method with a constraint against the one without."""


@dataclass(frozen=True, kw_only=True)
class PlannedComparison:
    """Two rows, and whether their errors differ."""

    method: str
    baseline: str
    mae: tuple[float, float]
    """Of the method and of the baseline, over the splits and folds that both have run."""
    n: int
    p_value: float
    """Of the difference of MAE: corrected resampled t-test, two-sided. NaN for fewer than two pairs."""


def check_rows(rows: Collection[str], *, against: str | None, alone: str | None = None, of: str = "") -> None:
    """Refuses rows to compare with that the table does not have.

    Example:
        >>> check_rows(["ce", "elb"], against=None, alone="ce")
        Traceback (most recent call last):
        onepeak.errors.InputError: `alone` must be another row than the one it is compared with, got 'ce' for both. ...
    """
    for name, row in (("against", against), ("alone", alone)):
        if row is not None and row not in rows:
            raise unknown_name(f"row{of} for `{name}`", row, rows, argument=name)
    if alone is None:
        return
    baseline = against or BASELINE
    if baseline not in rows:
        raise InputError(
            f"`against` must name the row{of} that {alone} is compared with, as there is no {BASELINE}, "
            f"got none. Known: {', '.join(rows)}.",
            argument="against",
        )
    if alone == baseline:
        raise InputError(
            f"`alone` must be another row than the one it is compared with, got {alone!r} for both.",
            argument="alone",
            fix="Name the other row with `against`.",
        )


def planned_comparison(
    runs: Frame, *, alone: str | None = None, against: str | None = None, metric: str = "mae"
) -> PlannedComparison | None:
    """The pair that the user names, or the log-barrier against cross-entropy, or the only pair that there is.

    Returns:
        None where there is no such pair, or none with a run of the same split and fold.
    """
    pair = _pair(list(dict.fromkeys(runs["label"])), alone, against)
    column = f"test_{metric}"
    if pair is None or column not in runs:
        return None
    mae = paired(runs, column, *pair)
    if not len(mae.differences):
        return None
    # means over the pairs only, so that they differ by the mean difference
    keys = [set(zip(own["split"], own["fold"], strict=True)) for own in _rows(runs, *pair)]
    both = runs[[key in keys[0] & keys[1] for key in zip(runs["split"], runs["fold"], strict=True)]]
    first, second = _rows(both, *pair)
    return PlannedComparison(
        method=pair[0],
        baseline=pair[1],
        mae=(float(first[column].mean()), float(second[column].mean())),
        n=len(mae.differences),
        p_value=corrected_t_test(mae.differences, test_train_ratio=mae.test_train_ratio),
    )


def _pair(rows: list[str], alone: str | None, against: str | None) -> tuple[str, str] | None:
    """The method and its baseline; nothing but names has a part in it."""
    if alone is not None:
        return alone, against or BASELINE
    if METHOD in rows and BASELINE in rows and (against is None or len(rows) > 2):
        return METHOD, BASELINE
    if len(rows) != 2:
        return None
    baseline = against or (BASELINE if BASELINE in rows else rows[0])
    return next(row for row in rows if row != baseline), baseline


def _rows(runs: Frame, *labels: str) -> list[Frame]:
    return [runs[runs["label"] == label] for label in labels]
