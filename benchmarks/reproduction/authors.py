"""Runs on the authors' own splits of FG-NET: the table beside the printed figures, and what bfloat16 changes."""

import pandas as pd

from onepeak.experiment.plan import PAPER_METHODS
from onepeak.experiment.published import published_figure
from onepeak.experiment.statistics import corrected_t_test, paired
from reproduction.runs import DATASET, Figure, figure, of_the_paper
from reproduction.text import MISSING, number, p_value, spread, table

METRICS = {
    "test_mae": ("MAE", 1, 2),
    "test_soi_predicted": ("SOI, points", 100, 2),
    "test_unimodal": ("one peak, points", 100, 1),
}
"""Title, scale and digits."""
BESIDE = ("ren-as_published", "smooth-rps+elb", "smooth-slopes")
"""Rows whose errors are near ELB's."""


def authors_table(runs: pd.DataFrame, ours: pd.DataFrame) -> str:
    """One row per method: printed, on the authors' splits, and on our own splits in float32.

    Args:
        runs: Those on the authors' splits.
        ours: Those of `results/fgnet`.
    """
    as_published = of_the_paper(ours)
    as_published = as_published[as_published["variant"] == "as_published"]
    rows = []
    for label in _labels(runs):
        own = runs[runs["label"] == label]
        name, method = own["name"].iloc[0], own["method"].iloc[0]
        beside = as_published[as_published["method"] == method] if method in PAPER_METHODS else as_published[:0]
        rows.append(
            (
                name,
                _printed(method, "mae", 2, 1),
                spread(figure(own, "test_mae"), 2),
                spread(figure(beside, "test_mae"), 2),
                _printed(method, "soi_predicted", 1, 100),
                spread(figure(own, "test_soi_predicted"), 1, scale=100, with_runs=False),
                spread(figure(own, "test_unimodal"), 1, scale=100, with_runs=False),
            )
        )
    header = ("method", "MAE, paper", "here", "our splits, float32", "SOI %, paper", "here", "one-peaked %, here")
    return table(header, rows)


def first_place(runs: pd.DataFrame) -> str:
    """ELB's error beside those of the methods next to it, as sentences."""
    elb = runs.loc[runs["label"] == "elb-as_published", "test_mae"]
    said = []
    for label in [each for each in BESIDE if each in set(runs["label"])]:
        own = runs[runs["label"].isin(["elb-as_published", label])].assign(method=lambda each: each["label"])
        pairs = paired(own, "test_mae", label, "elb-as_published")
        p = corrected_t_test(pairs.differences, test_train_ratio=pairs.test_train_ratio)
        name = runs.loc[runs["label"] == label, "name"].iloc[0]
        lower = int((pairs.differences > 0).sum())
        said.append(
            f"{name} {number(float(pairs.differences.mean()), 2, signed=True)} (ELB lower on {lower} of "
            f"{len(pairs.differences)} splits, p {p_value(p)})"
        )
    return (
        f"ELB's MAE is {number(float(elb.mean()), 2)}. Differences from it (corrected resampled t-test of each pair "
        f"alone): {'; '.join(said)}."
    )


def precision_table(short: pd.DataFrame, whole: pd.DataFrame) -> str:
    """What bfloat16 changes: differences of the same runs in both precisions."""
    keys = ["method", "variant", "split"]
    pairs = short.merge(of_the_paper(whole), on=keys, suffixes=("", "_whole"), validate="one_to_one")
    differences = {column: pairs[column] - pairs[f"{column}_whole"] for column in METRICS}
    rows = [
        (name, str(split), *(_signed(float(differences[column].iloc[place]), column) for column in METRICS))
        for place, (name, split) in enumerate(zip(pairs["name"], pairs["split"], strict=True))
    ]
    means = [_signed(differences[column].mean(), column) for column in METRICS]
    deviations = [_signed(differences[column].std(), column).removeprefix("+") for column in METRICS]
    summed = [(f"mean of {len(pairs)}", "", *means), ("standard deviation", "", *deviations)]
    return table(("method", "split", *(title for title, _, _ in METRICS.values())), [*rows, *summed])


def _labels(runs: pd.DataFrame) -> list[str]:
    """The paper's methods in its order, then ours."""
    known = [f"{method}-as_published" for method in PAPER_METHODS]
    found = list(dict.fromkeys(runs["label"]))
    return [label for label in known if label in found] + [label for label in found if label not in known]


def _printed(method: str, metric: str, digits: int, scale: int) -> str:
    found = published_figure(DATASET, method, metric)
    if found is None:
        return MISSING
    return spread(Figure(mean=found.mean, std=found.std, n=0), digits, scale=scale, with_runs=False)


def _signed(value: float, column: str) -> str:
    _, scale, digits = METRICS[column]
    return number(scale * value, digits, signed=True)
