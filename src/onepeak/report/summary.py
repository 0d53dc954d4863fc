"""What the runs say together: mean and spread of every method and metric, and which differences are real."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from onepeak._extras import require
from onepeak.data.frame_types import Frame
from onepeak.errors import InputError
from onepeak.experiment.pairing import pairs_there_are
from onepeak.experiment.published import computed_as_printed, published_figure
from onepeak.experiment.significance import cohen_dz, corrected_t_test, holm, rank_biserial, wilcoxon
from onepeak.metrics.catalog import METRICS
from onepeak.report.measured import MEASURED, Measured
from onepeak.report.planned import check_rows

LEVEL = 0.05
"""A difference is called real below this p-value."""

FEWEST = 3
"""Pairs of runs without which nothing is called real: two differences that are nearly equal by chance have a p-value as
small as you like."""

COLUMNS = (
    "dataset", "method", "variant", "decision", "selected_by", "metric", "mean", "std", "n", "chance", "constant",
    "best", "against", "difference", "n_pairs", "p_value", "p_wilcoxon", "effect", "rank_biserial", "paper_mean",
    "paper_std", "paper_difference", "paper_same",
)  # fmt: skip


def summary(results: Frame, *, metrics: Iterable[str] | None = None, against: str | None = None) -> Frame:
    """The test parts of the runs in long form: one row per data set, metric and method.

    Args:
        results: As `onepeak.experiment.records.read_results` gives them.
        metrics: Some keys of the catalog of metrics, "rps_calibrated", "nll_calibrated", "interval_coverage" or
            "interval_size"; all that the runs have if left out. Those outside of the catalog are left out of a data set
            none of whose runs has them.
        against: The row that the others are tested against; the best one of each metric if left out.

    Returns:
        A table with the columns

        - dataset (with its folder where two folders are of one data set), method (the row's label), variant, decision
          (how the label follows from the posterior; empty for one that is not in the catalog), selected_by (the
          metric that chose the epoch), metric;
        - mean, std (of a sample: over n - 1; NaN for one run), n (the runs in which the metric is defined);
        - chance: what guessing reaches, for metrics that know it; constant: of "mae" and "mae_median", what always
          giving the same answer reaches, the best one by the validation part;
        - best: whether no method is better over the `n_pairs` splits and folds on which all that have this metric
          have it: means over other runs than those of others would compare easy splits with hard ones. Of
          "interval_coverage", which should be what was promised, none is best, and none is tested;
        - against: the row that was asked for; None where it is the best (the first where several are);
        - difference: the mean difference to that row, method minus that one, over the same splits and folds;
        - p_value: of the corrected resampled t-test of that difference; p_wilcoxon: of Wilcoxon's signed-rank test;
          both corrected after Holm over the methods of the metric; effect: Cohen's d_z; rank_biserial. All NaN for
          that row itself, and where they are not defined (`onepeak.experiment.significance`);
        - paper_mean, paper_std: as Belharbi et al. 2019 print them; paper_difference: mean minus theirs; paper_same:
          whether this row computes what theirs did. It is false for the corrected variant of a method whose published
          code computes something else, with other settings or another recipe than theirs, and in other than full
          precision (`computed_as_printed`).
    """
    if not len(results):
        raise InputError("`results` must hold at least one run, got none.")
    pandas = require("pandas", extra="data", purpose="A summary")
    present = [record for record in MEASURED if f"test_{record.name}" in results.columns]
    records = present if metrics is None else [MEASURED[name] for name in metrics]
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
    runs: Frame, title: str, record: Measured, column: str, against: str | None
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
            "chance": _chance(record, float(own["num_classes"].iloc[0])),
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
    """The runs on splits and folds on which every method with any figure of that data set and folder has one.

    Args:
        results: As `onepeak.experiment.records.read_results` gives them.
        column: Which figure, such as `test_mae`.
    """
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


def _chance(record: Measured, num_classes: float) -> float:
    return np.nan if record.chance is None or np.isnan(num_classes) else record.chance(int(num_classes))


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
            computed_as_printed(
                figure.dataset, figure.method, variant=variant, settings=settings, recipe=recipe, precision=precision
            )
            for variant, settings, recipe, precision in own[["variant", "settings", "recipe", "precision"]].itertuples(
                index=False
            )
        ),
    }
