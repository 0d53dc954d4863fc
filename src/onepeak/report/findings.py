"""What was found, in plain words made from the numbers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onepeak.data.frame_types import Frame
from onepeak.experiment.pairing import paired
from onepeak.experiment.significance import corrected_t_test
from onepeak.report.summary import LEVEL, in_common
from onepeak.report.wording import enumerated, p_text, percent, spoken
from onepeak.training.kept_epoch import hardly_trained, no_better_than_constant

FEW_RUNS = 5
"""Fewer runs than this hardly ever show that a difference is real."""

MOST_NAMED = 5
"""Methods that a sentence names one by one; more are counted, and the table has them."""


@dataclass(frozen=True, kw_only=True)
class PlannedComparison:
    """The one comparison that was meant from the start: the method with a constraint against the one without."""

    method: str
    baseline: str
    mae: tuple[float, float]
    """Of the method and of the baseline, over the splits and folds that both have run."""
    soi: tuple[float, float]
    n: int
    p_value: float
    """Of the difference of MAE: corrected resampled t-test, two-sided. NaN for fewer than two pairs."""


def planned_comparison(runs: Frame, *, against: str | None = None) -> PlannedComparison | None:
    """The log-barrier against cross-entropy; where one is missing, the row in best or in worst order in its place.

    Args:
        runs: The runs on one data set, as `read_results` gives them.
        against: The baseline in place of cross-entropy.

    Returns:
        None where there are not two rows with a run of the same split and fold.
    """
    order = runs.groupby("label", sort=False)["test_soi_predicted"].mean().dropna()
    if len(order) < 2 or not (against is None or against in order.index):
        return None
    baseline = against or ("ce" if "ce" in order.index else str(order.idxmin()))
    others = order.drop(baseline)
    method = "elb" if "elb" in others.index else str(others.idxmax())
    mae = paired(runs, "test_mae", method, baseline)
    if not len(mae.differences):
        return None
    # means over the pairs only, so that they differ by the mean difference
    keys = [set(zip(own["split"], own["fold"], strict=True)) for own in _rows(runs, method, baseline)]
    both = runs[[key in keys[0] & keys[1] for key in zip(runs["split"], runs["fold"], strict=True)]]
    first, second = _rows(both, method, baseline)
    return PlannedComparison(
        method=method,
        baseline=baseline,
        mae=(float(first["test_mae"].mean()), float(second["test_mae"].mean())),
        soi=(float(first["test_soi_predicted"].mean()), float(second["test_soi_predicted"].mean())),
        n=len(mae.differences),
        p_value=corrected_t_test(mae.differences, test_train_ratio=mae.test_train_ratio),
    )


def findings(
    runs: Frame, summary: Frame, *, paradoxical: Mapping[str, float], variation: Mapping[str, float]
) -> tuple[str, ...]:
    """The findings on one data set, one sentence each: who errs least, the order, and the planned comparison.

    Args:
        runs: Its runs, as `read_results` gives them.
        summary: What `summary` makes of them; what it is tested against is the baseline here.
        paradoxical: The share of paradoxical predictions of each row; may be empty.
        variation: The distance of each row's posteriors from the true ones; may be empty.
    """
    chance = summary.loc[summary["metric"] == "soi_predicted", "chance"].max()
    early = [*_hardly_trained_sentences(runs, chance), *_constant_sentence(runs)]
    guessing = "" if np.isnan(chance) else f" (chance {percent(chance)})"
    against = summary["against"].iloc[0]
    planned = planned_comparison(runs, against=against)
    if planned is None:
        found = [_alone(row, guessing) for row in _wide(summary).to_dict("records")]
        if len(found) == 1:
            found.append("With one method there is nothing to compare it with.")
        return (*early, *found)
    pair = (planned.method, planned.baseline)
    mae = summary[summary["metric"] == "mae"]
    order = _order_sentence(_orders(runs, planned), named=(*mae.loc[mae["best"], "method"][:1], *pair))
    if len(mae) > 2 and mae["best"].any():
        best = _best_sentence(mae) if against is None else _against_sentence(mae, against)
        found = [best, f"{order}{guessing}.", _error_sentence(planned, among_others=True)]
    else:
        found = [_error_sentence(planned), f"{order}{guessing}."]
    if all(row in paradoxical for row in pair):
        found.append(
            "The second most probable label is no neighbour of the first in "
            f"{percent(paradoxical[pair[1]])} of {spoken(pair[1])}'s predictions "
            f"and in {percent(paradoxical[pair[0]])} of {spoken(pair[0])}'s."
        )
    if variation:
        nearest, farthest = min(variation, key=variation.__getitem__), max(variation, key=variation.__getitem__)
        found.append(
            f"Nearest to the true posteriors are those of {spoken(nearest)} (total variation {variation[nearest]:.3f})"
            + (f", farthest those of {spoken(farthest)} ({variation[farthest]:.3f})." if farthest != nearest else ".")
        )
    if planned.n < FEW_RUNS:
        runs_of_each = "One run of each method is" if planned.n == 1 else f"{planned.n} runs of each method are"
        found.append(f"{runs_of_each} few: more splits may change these verdicts.")
    return (*early, *found)


def _hardly_trained_sentences(runs: Frame, chance: float) -> list[str]:
    """Of the rows most runs of which kept one of their first epochs, out of order: no verdict on a method."""
    found = []
    for label, own in runs.groupby("label", sort=False):
        columns = (own["best_epoch"], own["most_epochs"], own["selected_by"], own["test_soi_predicted"])
        early = sum(hardly_trained(*run, order=order, chance=chance) for *run, order in zip(*columns, strict=True))
        if 2 * early > len(own):
            found.append(
                f"{spoken(str(label))} kept its first or second epoch in {early} of {len(own)} runs, by the validation "
                f"{own['selected_by'].iloc[0]}, with no more order than chance: its figures are of networks that have "
                "hardly been trained, and no verdict on it. Another --select (rps, last), another --lr or a stronger "
                "network may help."
            )
    return found


def _constant_sentence(runs: Frame) -> list[str]:
    """Of all rows most runs of which have learnt nothing that lowers the validation error below a constant's."""
    found = []
    for label, own in runs.groupby("label", sort=False):
        columns = zip(own["valid_mae"], own["constant_mae"], strict=True)
        flat = sum(no_better_than_constant(mae, constant) for mae, constant in columns)
        if 2 * flat > len(own):
            found.append(f"{spoken(str(label))} (in {flat} of {len(own)} runs)")
    if not found:
        return []
    return [
        f"The validation MAE of {enumerated(found)} is no better than that of always saying the one best label: more "
        "items, more epochs, smaller batches, another learning rate or a stronger network may help."
    ]


def _orders(runs: Frame, planned: PlannedComparison) -> dict[str, float]:
    """The order of each row on the splits and folds that all have, the best first; where there are none, of the two."""
    shared = in_common(runs, "test_soi_predicted")
    if not len(shared):
        return dict(zip((planned.method, planned.baseline), planned.soi, strict=True))
    means = shared.groupby("label", sort=False)["test_soi_predicted"].mean()
    return {str(row): float(mean) for row, mean in means.sort_values(ascending=False, kind="stable").items()}


def _order_sentence(orders: Mapping[str, float], *, named: Collection[str]) -> str:
    """How many pairs each row orders; of many rows the best, the worst and those that are named elsewhere."""
    rows = list(orders)
    if len(rows) > MOST_NAMED:
        rows = [row for row in rows if row in (rows[0], rows[-1], *named)]
    first, *others = rows
    said = [f"{spoken(first)} orders {percent(orders[first])} of adjacent pairs"]
    return ", ".join([*said, *(f"{spoken(row)} {percent(orders[row])}" for row in others)])


def _error_sentence(planned: PlannedComparison, *, among_others: bool = False) -> str:
    """Whether the error of the two differs; among others it is said that these have no part in the test."""
    mine, other = planned.mae
    digits = 2 if max(mine, other) >= 1 else 3
    figures = f"({mine:.{digits}f} against {other:.{digits}f})"
    gap = f"{abs(mine - other):.{digits}f}"
    method, baseline = spoken(planned.method), spoken(planned.baseline)
    the = "Compared alone, the" if among_others else "The"
    if float(gap) == 0:
        tested = "" if np.isnan(planned.p_value) else f"; {p_text(planned.p_value)}, n = {planned.n}"
        return f"{the} MAE of {method} and {baseline} is the same to the last digit shown {figures[:-1]}{tested})."
    difference = f"{the} MAE of {method} is {'lower' if mine < other else 'higher'} than that of {baseline} by {gap}"
    if np.isnan(planned.p_value):
        return f"{difference} {figures}; with one run of each, whether that is more than chance cannot be said."
    real = "significant" if planned.p_value < LEVEL else "not significant"
    return (
        f"{difference} {figures}, a difference that is {real} ({p_text(planned.p_value)}, corrected resampled t-test, "
        f"n = {planned.n})."
    )


def _best_sentence(mae: Frame) -> str:
    best, others = _names(mae[mae["best"]]), mae[~mae["best"]]
    start = _lowest(mae)
    if not len(others):
        return f"{start}."
    worse, level = _names(others[others["p_value"] < LEVEL]), _names(others[others["p_value"] >= LEVEL])
    than = f" than {best[0]}" if len(best) > 1 else ""  # the others are tested against the first alone
    if not worse and not level:
        return f"{start}; one run a method cannot tell the others from {'it' if len(best) == 1 else 'them'}."
    if not worse:
        return f"{start}; no other method is significantly worse{than}."
    if not level:
        return f"{start}; all others are significantly worse{than}."
    verb = "is" if len(worse) == 1 else "are"
    return f"{start}; {_named_if_few(worse)} {verb} significantly worse{than}, {_named_if_few(level)} not."


def _named_if_few(names: list[str]) -> str:
    return enumerated(names) if len(names) <= MOST_NAMED else f"{len(names)} others"


def _against_sentence(mae: Frame, against: str) -> str:
    """Which errors are told from that of one row, and in which direction."""
    real = mae["p_value"] < LEVEL
    kinds = {
        "significantly lower": real & (mae["difference"] < 0),
        "significantly higher": real & (mae["difference"] > 0),
        "not told from it": mae["p_value"] >= LEVEL,
    }
    said = [f"{enumerated(names)} is {how}" for how, rows in kinds.items() if (names := _names(mae[rows]))]
    if not said:
        return f"{_lowest(mae)}; one run a method cannot tell the others from {spoken(against)}."
    # Holm corrects for all of them, so that what the planned comparison finds alone may not be found here.
    return (
        f"{_lowest(mae)}. All tested together against {spoken(against)} (Holm), the MAE of {', that of '.join(said)}."
    )


def _lowest(mae: Frame) -> str:
    """Whose error is the lowest: one row's, or that of all that share it to the last bit."""
    best = mae[mae["best"]]
    names, first = _names(best), best.to_dict("records")[0]
    shared = f"{enumerated(names) if len(names) <= MOST_NAMED else f'{len(names)} methods'} share the lowest MAE"
    if (mae["n"] > mae["n_pairs"]).any():  # the means are of other runs
        common = f"{first['n_pairs']} splits and folds" if first["n_pairs"] > 1 else "one split and fold"
        said = f" the lowest MAE is that of {names[0]}" if len(names) == 1 else f", {shared}"
        return f"On the {common} that all methods have run{said}"
    if len(names) == 1:
        return f"The lowest MAE is that of {names[0]} ({_mean(first)})"
    return f"{shared} ({_mean({**first, 'std': np.nan})})"  # the spread is each one's own


def _names(rows: Frame) -> list[str]:
    return [spoken(label) for label in rows["method"]]


def _alone(row: dict[Any, Any], guessing: str) -> str:
    runs = "one run" if row["n"] == 1 else f"{row['n']} runs"
    return (
        f"{spoken(row['method'])} orders {percent(row['soi'])} of adjacent pairs{guessing}, "
        f"with an MAE of {_mean(row)} over {runs}."
    )


def _wide(summary: Frame) -> Frame:
    mae = summary[summary["metric"] == "mae"].set_index("method", drop=False)
    soi = summary[summary["metric"] == "soi_predicted"].set_index("method")["mean"]
    return mae.assign(soi=soi)


def _rows(runs: Frame, *labels: str) -> list[Frame]:
    return [runs[runs["label"] == label] for label in labels]


def _mean(row: dict[Any, Any]) -> str:
    digits = 2 if row["mean"] >= 1 else 3
    spread = "" if np.isnan(row["std"]) else f" ± {row['std']:.{digits}f}"
    return f"{row['mean']:.{digits}f}{spread}"
