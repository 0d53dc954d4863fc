"""What was found, in plain words made from the numbers."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from onepeak.data.frame_types import Frame
from onepeak.report.planned import BASELINE, PlannedComparison, planned_comparison
from onepeak.report.summary import FEWEST, LEVEL, in_common
from onepeak.report.wording import enumerated, p_text, percent, spoken
from onepeak.training.kept_epoch import hardly_trained, no_better_than_constant

FEW_RUNS = 5
"""Fewer runs than this hardly ever show that a difference is real."""

MOST_NAMED = 5
"""Methods that a sentence names one by one; more are counted, and the table has them."""


def findings(
    runs: Frame,
    summary: Frame,
    *,
    alone: str | None = None,
    paradoxical: Mapping[str, float],
    variation: Mapping[str, float],
    partly: str = "",
) -> tuple[str, ...]:
    """The findings on one data set, one sentence each: who errs least, the order, and the planned comparison.

    Args:
        runs: Its runs, as `read_results` gives them.
        summary: What `summary` makes of them; what it is tested against is the baseline here.
        alone: The row that the user has named to be compared by itself; ELB with CE if left out.
        paradoxical: The share of paradoxical predictions of each row; may be empty.
        variation: The distance of each row's posteriors from the true ones; may be empty.
        partly: Of which runs these two are, where it is not all; else empty.
    """
    chance = summary.loc[summary["metric"] == "soi_predicted", "chance"].max()
    early = [*_hardly_trained_sentences(runs, chance), *_constant_sentence(runs)]
    against = summary["against"].iloc[0]
    planned = planned_comparison(runs, alone=alone, against=against)
    mae = summary[summary["metric"] == "mae"]
    mae = mae.assign(p_value=mae["p_value"].where(mae["n_pairs"] >= FEWEST))  # of fewer there is no verdict
    several = len(mae) > 2 and mae["best"].any()
    if alone is not None and planned is None:
        early.append(f"{spoken(alone)} and {spoken(against or BASELINE)} share no split and fold to be compared on.")
    if planned is None and not several:
        found = [_alone(row, chance) for row in _wide(summary).to_dict("records")]
        if len(found) == 1:
            found.append("With one method there is nothing to compare it with.")
        return (*early, *found)
    pair = () if planned is None else (planned.method, planned.baseline)
    order = _order_sentence(runs, planned, chance, named=(*mae.loc[mae["best"], "method"][:1], *pair))
    if several:
        best = _best_sentence(mae) if against is None else _against_sentence(mae, against)
        error = [] if planned is None else [_error_sentence(planned, among_others=True)]
        found = [best, *order, *error]
    else:
        found = [*([] if planned is None else [_error_sentence(planned)]), *order]
    of_runs = f" (predictions of {partly})" if partly else ""
    if planned is not None and all(row in paradoxical for row in pair):
        found.append(
            "The second most probable label is no neighbour of the first in "
            f"{percent(paradoxical[planned.baseline])} of {spoken(planned.baseline)}'s predictions "
            f"and in {percent(paradoxical[planned.method])} of {spoken(planned.method)}'s{of_runs}."
        )
    if variation:
        nearest, farthest = min(variation, key=variation.__getitem__), max(variation, key=variation.__getitem__)
        found.append(
            f"Nearest to the true posteriors are those of {spoken(nearest)} (total variation {variation[nearest]:.3f})"
            + (f", farthest those of {spoken(farthest)} ({variation[farthest]:.3f})" if farthest != nearest else "")
            + f"{of_runs}."
        )
    n = int(mae["n_pairs"].max()) if planned is None else planned.n
    if n < FEW_RUNS:
        few = "One run of each method is few" if n == 1 else f"{n} runs of each method are few"
        found.append(
            f"{few}: {f'a verdict needs {FEWEST}' if n < FEWEST else 'more splits may change these verdicts'}."
        )
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


def _orders(runs: Frame, planned: PlannedComparison | None) -> dict[str, float]:
    """The order of each row on the splits and folds that all have, the best first; where there are none, of the two."""
    shared = in_common(runs, "test_soi_predicted")
    if not len(shared):
        pair = () if planned is None else zip((planned.method, planned.baseline), planned.soi, strict=True)
        return {row: order for row, order in pair if not np.isnan(order)}
    means = shared.groupby("label", sort=False)["test_soi_predicted"].mean()
    return {str(row): float(mean) for row, mean in means.sort_values(ascending=False, kind="stable").items()}


def _order_sentence(
    runs: Frame, planned: PlannedComparison | None, chance: float, *, named: Collection[str]
) -> list[str]:
    """How many pairs each row orders; of many rows the best, the worst and those that are named elsewhere."""
    orders = _orders(runs, planned)
    if not orders:
        return []
    rows = list(orders)
    if len(rows) > MOST_NAMED:
        rows = [row for row in rows if row in (rows[0], rows[-1], *named)]
    first, *others = rows
    said = [f"{spoken(first)} orders {percent(orders[first])} of adjacent pairs"]
    decisions = dict(zip(runs["label"], runs["decision"], strict=True))
    guessing = _guessing(chance, [decisions[row] for row in rows])
    return [", ".join([*said, *(f"{spoken(row)} {percent(orders[row])}" for row in others)]) + f"{guessing}."]


def _guessing(chance: float, decisions: Collection[str]) -> str:
    """The chance level, which is that of the mode: nothing for rows that decide otherwise."""
    others = sum(rule not in ("", "mode") for rule in decisions)
    if np.isnan(chance) or others == len(decisions):
        return ""
    return f" (chance{' by the mode' if others else ''} {percent(chance)})"


def _error_sentence(planned: PlannedComparison, *, among_others: bool = False) -> str:
    """Whether the error of the two differs; among others it is said that these have no part in the test."""
    mine, other = planned.mae
    digits = 2 if max(mine, other) >= 1 else 3
    figures = f"({mine:.{digits}f} against {other:.{digits}f})"
    gap = f"{abs(mine - other):.{digits}f}"
    method, baseline = spoken(planned.method), spoken(planned.baseline)
    the = "Compared alone, the" if among_others else "The"
    if float(gap) == 0:
        tested = "" if planned.n < FEWEST else f"; {p_text(planned.p_value)}, n = {planned.n}"
        return f"{the} MAE of {method} and {baseline} is the same to the last digit shown {figures[:-1]}{tested})."
    difference = f"{the} MAE of {method} is {'lower' if mine < other else 'higher'} than that of {baseline} by {gap}"
    if planned.n < FEWEST:
        few = "one run" if planned.n == 1 else "two runs"
        return f"{difference} {figures}; with {few} of each, whether that is more than chance cannot be said."
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
        return f"{start}; {_cannot_tell(mae)} {'it' if len(best) == 1 else 'them'}."
    if not worse:
        return f"{start}; no other method is significantly worse{than}."
    if not level:
        return f"{start}; all others are significantly worse{than}."
    verb = "is" if len(worse) == 1 else "are"
    return f"{start}; {_named_if_few(worse)} {verb} significantly worse{than}, {_named_if_few(level)} not."


def _cannot_tell(mae: Frame) -> str:
    return f"{'one run' if mae['n_pairs'].max() < 2 else 'two runs'} a method cannot tell the others from"


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
        return f"{_lowest(mae)}; {_cannot_tell(mae)} {spoken(against)}."
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


def _alone(row: dict[Any, Any], chance: float) -> str:
    runs = "one run" if row["n"] == 1 else f"{row['n']} runs"
    return (
        f"{spoken(row['method'])} orders {percent(row['soi'])} of adjacent pairs"
        f"{_guessing(chance, [row['decision']])}, with an MAE of {_mean(row)} over {runs}."
    )


def _wide(summary: Frame) -> Frame:
    mae = summary[summary["metric"] == "mae"].set_index("method", drop=False)
    soi = summary[summary["metric"] == "soi_predicted"].set_index("method")["mean"]
    return mae.assign(soi=soi)


def _mean(row: dict[Any, Any]) -> str:
    digits = 2 if row["mean"] >= 1 else 3
    spread = "" if np.isnan(row["std"]) else f" ± {row['std']:.{digits}f}"
    return f"{row['mean']:.{digits}f}{spread}"
