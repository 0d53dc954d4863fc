"""The findings of a report: short sentences from the numbers."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from onepeak._core.imports import Frame
from onepeak._core.wording import counted
from onepeak.report.planned_comparison import BASELINE, PlannedComparison, planned_comparison
from onepeak.report.sentences import display_name, enumerated, p_text, percent
from onepeak.report.summary import FEWEST, LEVEL, in_common
from onepeak.training.convergence import hardly_trained, no_better_than_constant

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
) -> tuple[str, ...]:
    """The findings on one data set, one sentence each: lowest error, consistency and the planned comparison."""
    orders = summary[summary["metric"] == "soi_predicted"]
    chance = dict(zip(orders["method"], orders["chance"], strict=True))
    early = [*_hardly_trained_sentences(runs, chance), *_constant_sentence(runs)]
    against = summary["against"].iloc[0]
    planned = planned_comparison(runs, alone=alone, against=against)
    mae = _errors(summary, "mae")
    several = len(mae) > 2 and bool(mae["best"].any())
    if alone is not None and planned is None:
        early.append(
            f"{display_name(alone)} and {display_name(against or BASELINE)} share no split and fold to be compared on."
        )
    baseline = [f"Baseline (one constant class): MAE {constant:.3f}." for constant in mae["constant"].dropna()[:1]]
    if planned is None and not several:
        return (*early, *(_alone(row, chance) for row in _wide(summary).to_dict("records")), *baseline)
    pair = () if planned is None else (planned.method, planned.baseline)
    n = int(mae["n_pairs"].max()) if planned is None else planned.n
    found = [f"Too few runs to name a winner (at least {FEWEST} needed)."] if n < FEWEST else []
    if several and mae["n_pairs"].max() >= FEWEST:
        found = [*_headlines(mae, _errors(summary, "mae_median"), against), *found]
    order = _order_sentence(runs, chance, named=(*mae.loc[mae["best"], "method"][:1], *pair))
    by_median = planned_comparison(runs, alone=alone, against=against, metric="mae_median")
    error = [] if planned is None else _error_sentences(planned, by_median, among_others=several)
    found += [*order, *error, *baseline] if several else [*error, *baseline, *order]
    if planned is not None and all(row in paradoxical for row in pair):
        found.append(
            f"The two most probable classes are not neighbours in {percent(paradoxical[planned.baseline])} of "
            f"{display_name(planned.baseline)}'s predictions and {percent(paradoxical[planned.method])} of "
            f"{display_name(planned.method)}'s."
        )
    if variation:
        nearest, farthest = min(variation, key=variation.__getitem__), max(variation, key=variation.__getitem__)
        found.append(
            f"Closest to the true posteriors: {display_name(nearest)} (total variation {variation[nearest]:.3f})"
            + (f"; farthest: {display_name(farthest)} ({variation[farthest]:.3f})." if farthest != nearest else ".")
        )
    if FEWEST <= n < FEW_RUNS:
        found.append(f"Only {n} runs of each method: more runs may change these results.")
    return (*early, *found)


def _hardly_trained_sentences(runs: Frame, chance: Mapping[str, float]) -> list[str]:
    """Of the rows most runs of which kept one of their first epochs, out of order: no verdict on a method."""
    found = []
    for label, own in runs.groupby("label", sort=False):
        columns = (own["best_epoch"], own["most_epochs"], own["selected_by"], own["test_soi_predicted"])
        level = chance.get(str(label), np.nan)
        early = sum(hardly_trained(*run, order=order, chance=level) for *run, order in zip(*columns, strict=True))
        if 2 * early > len(own):
            found.append(
                f"{display_name(str(label))} kept its first or second epoch in {early} of {len(own)} runs, by the "
                f"validation {own['selected_by'].iloc[0]}, with no more consistency than random "
                "guessing: it is hardly trained, so its figures do not count. Another --select (rps, last), another "
                "--lr or a stronger network may help."
            )
    return found


def _constant_sentence(runs: Frame) -> list[str]:
    """Of all rows most runs of which have learnt nothing that lowers the validation error below a constant's."""
    found = []
    for label, own in runs.groupby("label", sort=False):
        columns = zip(own["valid_mae"], own["constant_mae"], strict=True)
        flat = sum(no_better_than_constant(mae, constant) for mae, constant in columns)
        if 2 * flat > len(own):
            found.append(f"{display_name(str(label))} (in {flat} of {len(own)} runs)")
    if not found:
        return []
    return [
        f"The validation MAE of {enumerated(found)} is no better than that of one constant class: more "
        "samples, more epochs, smaller batches, another learning rate or a stronger network may help."
    ]


def _order_sentence(runs: Frame, chance: Mapping[str, float], *, named: Collection[str]) -> list[str]:
    """How many pairs each row orders on the splits and folds that all have, the best first.

    Of many rows, those at both ends and those named elsewhere; nothing where the rows share no split and fold.
    """
    shared = in_common(runs, "test_soi_predicted")
    means = shared.groupby("label", sort=False)["test_soi_predicted"].mean()
    orders = {str(row): mean for row, mean in means.sort_values(ascending=False, kind="stable").items()}
    rows = list(orders)
    if len(rows) > MOST_NAMED:
        rows = [row for row in rows if row in (rows[0], rows[-1], *named)]
    if not rows:
        return []
    shares = ", ".join(f"{display_name(row)} {percent(orders[row])}" for row in rows)
    decisions = dict(zip(runs["label"], runs["decision"], strict=True))
    guessing = _guessing({decisions[row]: chance.get(row, np.nan) for row in rows})
    return [f"Adjacent pairs in order: {shares}{guessing}."]


def _guessing(chances: Mapping[str, float]) -> str:
    """The chance level of each decision."""
    levels = {rule.replace("_", " "): percent(chance) for rule, chance in chances.items() if not np.isnan(chance)}
    if not levels:
        return ""
    if len(set(levels.values())) == 1:
        return f" (random guessing {next(iter(levels.values()))})"
    return f" (random guessing {', '.join(f'{level} by the {rule}' for rule, level in levels.items())})"


def _error_sentences(
    planned: PlannedComparison, by_median: PlannedComparison | None, *, among_others: bool
) -> list[str]:
    """Whether the errors of the two differ, and again by the median where that has another outcome."""
    found = [_error_sentence(planned, " (chosen in advance)" if among_others else "")]
    if by_median is not None and by_median.n == planned.n and _outcome(by_median) != _outcome(planned):
        found.append(_error_sentence(by_median, ", if both decided by the median"))
    return found


def _outcome(planned: PlannedComparison) -> tuple[bool, bool]:
    """Whether the method's error is lower, and whether the difference is significant."""
    return planned.mae[0] < planned.mae[1], planned.n >= FEWEST and planned.p_value < LEVEL


def _error_sentence(planned: PlannedComparison, remark: str) -> str:
    mine, other = planned.mae
    digits = 2 if max(mine, other) >= 1 else 3
    gap = f"{abs(mine - other):.{digits}f}"
    difference = "equal" if float(gap) == 0 else f"{gap} {'lower' if mine < other else 'higher'}"
    test = ""
    if planned.n >= FEWEST:
        verdict = "significant" if planned.p_value < LEVEL else "not significant"
        test = f", {verdict} ({p_text(planned.p_value)}, corrected resampled t-test, n = {planned.n})"
    return (
        f"{display_name(planned.method)} vs {display_name(planned.baseline)}{remark}: "
        f"MAE {mine:.{digits}f} vs {other:.{digits}f}, {difference}{test}."
    )


def _errors(summary: Frame, metric: str) -> Frame:
    """The rows of one error, without p-values where there are too few pairs for a verdict."""
    rows = summary[summary["metric"] == metric]
    return rows.assign(p_value=rows["p_value"].where(rows["n_pairs"] >= FEWEST))


def _headlines(mae: Frame, by_median: Frame, against: str | None) -> list[str]:
    """Whose error is the lowest and which differ, and again by the median where that has another outcome."""
    found = [_headline(mae, against)]
    if list(by_median["n_pairs"]) == list(mae["n_pairs"]) and _verdicts(by_median) != _verdicts(mae):
        other = _headline(by_median, against)
        found.append(f"If all decided by the median: {other}")
    return found


def _verdicts(errors: Frame) -> list[tuple[bool, bool, bool]]:
    """Of every row whether it is the best, and whether it is significantly lower or higher."""
    real = errors["p_value"] < LEVEL
    columns = (errors["best"], real & (errors["difference"] < 0), real & (errors["difference"] > 0))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _headline(mae: Frame, against: str | None) -> str:
    return _best_sentence(mae) if against is None else _against_sentence(mae, against)


def _best_sentence(mae: Frame) -> str:
    others = mae[~mae["best"]]
    worse, level = _names(others[others["p_value"] < LEVEL]), _names(others[others["p_value"] >= LEVEL])
    start = _lowest(mae)
    if not worse and not level:  # no others, or too few runs
        return f"{start}."
    if not worse:
        return f"{start}; no other method is significantly worse."
    if not level:
        return f"{start}; all others are significantly worse."
    verb = "is" if len(worse) == 1 else "are"
    return f"{start}; {_named_if_few(worse)} {verb} significantly worse, {_named_if_few(level)} not."


def _named_if_few(names: list[str]) -> str:
    return enumerated(names) if len(names) <= MOST_NAMED else f"{len(names)} methods"


def _against_sentence(mae: Frame, against: str) -> str:
    """Which errors differ from that of one row, and in which direction."""
    real = mae["p_value"] < LEVEL
    kinds = {
        "significantly lower": real & (mae["difference"] < 0),
        "significantly higher": real & (mae["difference"] > 0),
        "no significant difference": mae["p_value"] >= LEVEL,
    }
    verdicts = [f"{enumerated(names)} {how}" for how, rows in kinds.items() if (names := _names(mae[rows]))]
    if not verdicts:  # too few runs
        return f"{_lowest(mae)}."
    # Holm corrects for all of them, so that what the planned comparison finds alone may not be found here.
    return f"{_lowest(mae)}. MAE against {display_name(against)} (Holm): {'; '.join(verdicts)}."


def _lowest(mae: Frame) -> str:
    """Whose error is the lowest: one row's, or that of all that share it to the last bit."""
    best = mae[mae["best"]]
    names, first = _names(best), best.to_dict("records")[0]
    if (mae["n"] > mae["n_pairs"]).any():  # the means are of other runs
        common = counted(first["n_pairs"], "run")
        return f"Lowest MAE over the {common} that all methods share: {_named_if_few(names)}"
    row = first if len(names) == 1 else {**first, "std": np.nan}  # the spread is each one's own
    return f"Lowest MAE: {_named_if_few(names)} ({_mean(row)})"


def _names(rows: Frame) -> list[str]:
    return [display_name(label) for label in rows["method"]]


def _alone(row: dict[Any, Any], chance: Mapping[str, float]) -> str:
    guessing = _guessing({row["decision"]: chance.get(row["method"], np.nan)})
    return (
        f"{display_name(row['method'])}: MAE {_mean(row)} over {counted(row['n'], 'run')}, "
        f"{percent(row['soi'])} of adjacent pairs in order{guessing}."
    )


def _wide(summary: Frame) -> Frame:
    mae = summary[summary["metric"] == "mae"].set_index("method", drop=False)
    soi = summary[summary["metric"] == "soi_predicted"].set_index("method")["mean"]
    return mae.assign(soi=soi)


def _mean(row: dict[Any, Any]) -> str:
    digits = 2 if row["mean"] >= 1 else 3
    spread = "" if np.isnan(row["std"]) else f" ± {row['std']:.{digits}f}"
    return f"{row['mean']:.{digits}f}{spread}"
