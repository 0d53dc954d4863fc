"""The figures of a comparison: every metric of every method, and the one pair that is tested by itself."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onepeak._core.imports import Frame, require
from onepeak._core.registry import Registry, unknown_name
from onepeak.errors import InputError
from onepeak.experiment.published import computed_as_printed, published_figure
from onepeak.experiment.results import CALIBRATED, INTERVALS
from onepeak.experiment.statistics import (
    cohen_dz,
    corrected_t_test,
    holm,
    paired,
    pairs_there_are,
    rank_biserial,
    wilcoxon,
)
from onepeak.metrics.catalog import METRICS, MetricRecord
from onepeak.posterior.decide import DECISIONS
from onepeak.training.calibration import ALPHA

_SHORT = {
    "mae": "error (MAE)",
    "mae_median": "MAE of the median",
    "soi_predicted": "consistency (SOI)",
    "soi_true": "SOI to the truth",
    "unimodal": "one peak",
}
_ABBREVIATIONS = {"amae", "mmae", "qwk", "rps", "nll", "ece", "rmse", "iba", "lwk", "oci", "uoc", "emd"}


@dataclass(frozen=True, kw_only=True)
class TableMetric:
    """What a table says of a figure."""

    name: str
    title: str
    higher_is_better: bool | None
    """None where neither is: coverage should be what was promised."""
    high: float | None
    """As of `MetricRecord`."""
    chance: Callable[[int, str], float] | None = field(default=None, repr=False)
    """As of `MetricRecord`."""

    @property
    def short(self) -> str:
        """What a column is called: words, and abbreviations in capitals.

        Example:
            >>> [TABLE_METRICS[name].short for name in ("mae", "soi_predicted", "rps_calibrated", "accuracy_within_1")]
            ['error (MAE)', 'consistency (SOI)', 'RPS calibrated', 'accuracy within 1']
        """
        words = (part.upper() if part in _ABBREVIATIONS else part for part in self.name.split("_"))
        return _SHORT.get(self.name, " ".join(words))


def _with_calibrated(record: MetricRecord) -> Iterator[TableMetric]:
    """A metric, and behind it the same of calibrated posteriors where it is read of these too."""
    about: dict[str, Any] = {name: getattr(record, name) for name in ("higher_is_better", "high", "chance")}
    yield TableMetric(name=record.name, title=record.title, **about)
    if record.name in CALIBRATED:
        yield TableMetric(name=f"{record.name}_calibrated", title=f"{record.title}, calibrated", **about)


_COVERAGE = f"share of true labels inside their interval (target {1 - ALPHA:.0%})"
_SIZE = f"classes in a {1 - ALPHA:.0%} interval"
TABLE_METRICS: Registry[TableMetric] = Registry(
    "metric",
    [
        *(each for record in METRICS for each in _with_calibrated(record)),
        TableMetric(name=INTERVALS["coverage"], title=_COVERAGE, higher_is_better=None, high=1.0),
        TableMetric(name=INTERVALS["interval_size"], title=_SIZE, higher_is_better=False, high=None),
    ],
)
"""In the order in which tables show them; a calibrated one after the one as trained."""


LEVEL = 0.05
"""A difference is called real below this p-value."""

COLUMNS = (
    "dataset", "method", "variant", "decision", "selected_by", "metric", "mean", "std", "n", "chance", "constant",
    "best", "against", "difference", "n_pairs", "p_value", "p_wilcoxon", "effect", "rank_biserial", "paper_mean",
    "paper_std", "paper_difference", "paper_same",
)  # fmt: skip


def summary(results: Frame, *, metrics: Iterable[str] | None = None, against: str | None = None) -> Frame:
    """The test parts of the runs in long form: one row per data set, metric and method, with the columns `COLUMNS`.

    The page "What a comparison writes" of the documentation says what they mean. Means are compared over the splits and
    folds that all methods have: over other runs they would compare easy splits with hard ones.

    Args:
        results: As `onepeak.experiment.results.read_results` gives them.
        metrics: Names of `TABLE_METRICS`; all that the runs have if left out. Those that are not in the catalog are
            left out of a data set none of whose runs has them.
        against: The row that the others are tested against; the best one of each metric if left out.
    """
    if not len(results):
        raise InputError("`results` must hold at least one run, got none.")
    pandas = require("pandas", extra="data", purpose="A summary")
    present = [record for record in TABLE_METRICS if f"test_{record.name}" in results.columns]
    records = present if metrics is None else [TABLE_METRICS[name] for name in metrics]
    for record in records:
        if record not in present:
            raise InputError(f"`metrics` must be measured by the runs, got {record.name!r}, which none has.")
    for title, runs in blocks(results):
        check_rows(dict.fromkeys(runs["label"]), against=against, of=f" of {title}")
    rows = [
        row
        for title, runs in blocks(results)
        for record in records
        if record.name in METRICS or runs[f"test_{record.name}"].notna().any()
        for row in _rows_of_metric(runs, title, record, f"test_{record.name}", against)
    ]
    found: Frame = pandas.DataFrame(rows, columns=list(COLUMNS))
    return found


def blocks(results: Frame) -> Iterator[tuple[str, Frame]]:
    """The runs of each data set of each folder, with a title that tells them apart."""
    places = results[["experiment", "dataset"]].drop_duplicates()
    for experiment, dataset in places.itertuples(index=False):
        runs = results[(results["experiment"] == experiment) & (results["dataset"] == dataset)]
        shared = (places["dataset"] == dataset).sum() > 1
        yield (f"{dataset} ({experiment})" if shared else dataset), runs


def _rows_of_metric(
    runs: Frame, title: str, record: TableMetric, column: str, against: str | None
) -> list[dict[str, Any]]:
    of_method = runs.groupby("label", sort=False)
    constant = runs.drop_duplicates(["split", "fold"])["constant_test_mae"].mean()
    rows = [
        {
            "dataset": title,
            "method": label,
            "variant": own["variant"].iloc[0],
            "decision": own["decision"].iloc[0],
            "selected_by": own["selected_by"].iloc[0],
            "metric": record.name,
            "mean": own[column].mean(),
            "std": own[column].std(),
            "n": int(own[column].count()),
            "chance": _chance(record, float(own["num_classes"].iloc[0]), str(own["decision"].iloc[0])),
            "constant": constant if record.name in ("mae", "mae_median") else np.nan,
            "against": against,
            **_beside_the_paper(own, record.name, column),
        }
        for label, own in of_method
    ]
    shared = in_common(runs, column)
    if not len(shared) or record.higher_is_better is None:
        return [{**row, "best": False, "n_pairs": 0} for row in rows]
    means = shared.groupby("label")[column].mean()
    best = set(means.index[means == (means.max() if record.higher_is_better else means.min())])
    reference = against or next(row["method"] for row in rows if row["method"] in best)
    tests = [_against(shared, column, row["method"], reference) for row in rows]
    for name in ("p_value", "p_wilcoxon"):
        for test, corrected in zip(tests, holm([test[name] for test in tests]), strict=True):
            test[name] = corrected
    return [{**row, "best": row["method"] in best, **test} for row, test in zip(rows, tests, strict=True)]


def in_common(results: Frame, column: str) -> Frame:
    """The runs on splits and folds on which every method with any figure of that data set and folder has one."""
    known, block = results[results[column].notna()], ["experiment", "dataset"]
    num_methods = known.groupby([*block, "split", "fold"])["label"].transform("nunique")
    return known[num_methods == known.groupby(block)["label"].transform("nunique")]


def _against(runs: Frame, column: str, method: str, reference: str) -> dict[str, Any]:
    """The difference of one method to another, and how sure it is."""
    pairs = pairs_there_are(runs, column, method, reference)
    differences = pairs.differences
    if method == reference:
        nothing = dict.fromkeys(("p_value", "p_wilcoxon", "effect", "rank_biserial"), np.nan)
        return {"difference": 0.0, "n_pairs": len(differences), **nothing}
    return {
        "difference": differences.mean() if len(differences) else np.nan,
        "n_pairs": len(differences),
        "p_value": corrected_t_test(differences, test_train_ratio=pairs.test_train_ratio),
        "p_wilcoxon": wilcoxon(differences).p_value,
        "effect": cohen_dz(differences),
        "rank_biserial": rank_biserial(differences),
    }


def _chance(record: TableMetric, num_classes: float, decision: str) -> float:
    if record.chance is None or np.isnan(num_classes) or decision not in DECISIONS:
        return np.nan
    return record.chance(int(num_classes), decision)


_PRINTED_BY = ("variant", "settings", "recipe", "precision", "protocol", "network", "weights")


def _beside_the_paper(own: Frame, metric: str, column: str) -> dict[str, Any]:
    first = own.iloc[0]
    figure = published_figure(first["dataset"], first["method"], metric)
    if figure is None:
        return {}
    return {
        "paper_mean": figure.mean,
        "paper_std": figure.std,
        "paper_difference": own[column].mean() - figure.mean,
        "paper_same": all(
            computed_as_printed(figure.dataset, figure.method, **dict(zip(_PRINTED_BY, values, strict=True)))
            for values in own[list(_PRINTED_BY)].itertuples(index=False)
        ),
    }


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
    runs: Frame, *, alone: str | None = None, against: str | None = None
) -> PlannedComparison | None:
    """The pair that the user names, or the log-barrier against cross-entropy, or the only pair that there is.

    None where there is no such pair, or none with a run of the same split and fold.
    """
    pair = _pair(list(dict.fromkeys(runs["label"])), alone, against)
    column = "test_mae"
    if pair is None or column not in runs:
        return None
    tested = paired(runs, column, *pair)
    if not len(tested.differences):
        return None
    # means over the pairs only, so that they differ by the mean difference
    both = runs.pivot(index=["split", "fold"], columns="label", values=column)[list(pair)].dropna().mean()
    return PlannedComparison(
        method=pair[0],
        baseline=pair[1],
        mae=(float(both[pair[0]]), float(both[pair[1]])),
        n=len(tested.differences),
        p_value=corrected_t_test(tested.differences, test_train_ratio=tested.test_train_ratio),
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
