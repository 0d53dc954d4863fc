"""The findings of a report: plain words from the numbers, and the statistics behind them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from onepeak._core.imports import Frame
from onepeak._core.wording import counted
from onepeak.report.palette import FEWEST
from onepeak.report.run_data import CalibrationSummary
from onepeak.report.sentences import chance_in_words, display_name, enumerated, p_text, percent
from onepeak.report.summary import BASELINE, LEVEL, PlannedComparison, in_common, planned_comparison
from onepeak.training.calibration import ALPHA
from onepeak.training.convergence import hardly_trained, no_better_than_constant

FEW_RUNS = 5
"""Fewer runs than this hardly ever show that a difference is real."""

MOST_NAMED = 5
"""Methods that a sentence names one by one; more are counted, and the table has them."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing to know, in plain words, and the statistics behind it."""

    text: str
    details: tuple[str, ...] = ()


def findings(
    runs: Frame,
    summary: Frame,
    *,
    alone: str | None = None,
    paradoxical: Mapping[str, float],
    variation: Mapping[str, float],
    calibration: Mapping[str, CalibrationSummary] = MappingProxyType({}),
) -> tuple[Finding, ...]:
    """What does not count on one data set, which method to take, consistency, probabilities, what to do next."""
    orders = summary[summary["metric"] == "soi_predicted"]
    chance = dict(zip(orders["method"], orders["chance"], strict=True))
    found = [Finding(text=text) for text in _rows_that_do_not_count(runs, chance)]
    against = summary["against"].iloc[0]
    planned = planned_comparison(runs, alone=alone, against=against)
    mae = summary[summary["metric"] == "mae"]
    if alone is not None and planned is None:
        names = f"{display_name(alone)} and {display_name(against or BASELINE)}"
        found.append(Finding(text=f"{names} share no split and fold to be compared on."))
    baseline = [f"Baseline (one constant class): MAE {constant:.3f}." for constant in mae["constant"].dropna()[:1]]
    several = len(mae) > 2 and bool(mae["best"].any())
    compared = several or planned is not None
    n = int(mae["n_pairs"].max())
    if compared:
        details = [_against_sentence(mae, against)] if several and against is not None and n >= FEWEST else []
        if planned is not None:
            details.append(_error_sentence(planned, " (chosen in advance)" if several else ""))
        found.append(Finding(text=_choice(mae, against) if n >= FEWEST else TOO_FEW, details=(*details, *baseline)))
    else:
        soi = summary[summary["metric"] == "soi_predicted"].set_index("method")["mean"]
        found += [Finding(text=_alone(row, soi[row["method"]], chance)) for row in mae.to_dict("records")]
        found += [Finding(text=text) for text in baseline]
    pair = () if planned is None else (planned.method, planned.baseline)
    if compared or paradoxical or variation:
        found += _consistency(runs, chance, (*mae.loc[mae["best"], "method"][:1], *pair), pair, paradoxical, variation)
    found += _probabilities(summary, calibration)
    if compared and n < FEW_RUNS:
        few = (
            f"at least {FEWEST} runs that all methods share"
            if n < FEWEST
            else f"with only {n} runs of each method, results may change"
        )
        found.append(Finding(text=f"More runs would make this more certain (compare --splits or --folds): {few}."))
    return tuple(found)


TOO_FEW = f"Too few runs to name a winner (at least {FEWEST} needed)."


def _choice(mae: Frame, against: str | None) -> str:
    """Which method to take, and how sure that is."""
    best, others = mae[mae["best"]], mae[~mae["best"]]
    if best.empty:
        return "No winner: the methods share too few runs."
    names, error = _named_if_few(_names(best), word="or"), f"MAE {_mean(best.to_dict('records')[0])}"
    has = "has" if len(best) == 1 else "have"
    if against is not None or others.empty:
        return f"{names} {has} the lowest error ({error})."
    worse, level = (_names(others[rows]) for rows in (others["p_value"] < LEVEL, others["p_value"] >= LEVEL))
    if not worse:
        return f"No clear winner: {names} {has} the lowest error ({error}), but the differences may be due to chance."
    by_chance = "the difference is unlikely to be due to chance"
    rest = f"{_named_if_few(level, word='or')} may be as good" if level else by_chance
    return f"Take {names}: the lowest error ({error}); {rest}."


def _consistency(
    runs: Frame,
    chance: Mapping[str, float],
    named: Collection[str],
    pair: Sequence[str],
    paradoxical: Mapping[str, float],
    variation: Mapping[str, float],
) -> list[Finding]:
    """Whose posteriors fall away from the prediction; nothing where the rows share no split and fold."""
    means = in_common(runs, "test_soi_predicted").groupby("label", sort=False)["test_soi_predicted"].mean()
    orders = {str(row): mean for row, mean in means.sort_values(ascending=False, kind="stable").items()}
    details = _order_sentence(runs, chance, orders, named=named)
    if pair and all(row in paradoxical for row in pair):
        method, other = pair
        details.append(
            f"The two most probable classes are not neighbours in {percent(paradoxical[other])} of "
            f"{display_name(other)}'s predictions and {percent(paradoxical[method])} of {display_name(method)}'s."
        )
    if variation:
        nearest, farthest = min(variation, key=variation.__getitem__), max(variation, key=variation.__getitem__)
        details.append(
            f"Closest to the true posteriors: {display_name(nearest)} (total variation {variation[nearest]:.3f})"
            + (f"; farthest: {display_name(farthest)} ({variation[farthest]:.3f})." if farthest != nearest else ".")
        )
    if not orders:
        return [Finding(text=text) for text in details]
    high, (last, low) = next(iter(orders.values())), next(reversed(orders.items()))
    top = [row for row, share in orders.items() if percent(share) == percent(high)]
    names = _named_if_few([display_name(row) for row in top])
    text = f"Consistency: with {names}, {percent(high)} of adjacent classes fall away from the prediction"
    if low >= CONSISTENT and len(orders) > 1:
        text = (
            f"Consistency: with every method, at least {percent(low)} of adjacent classes fall away from the prediction"
        )
    elif last not in top:
        text += f", with {display_name(last)} only {percent(low)}"
    return [Finding(text=f"{text}.", details=tuple(details))]


CONSISTENT = 0.99
"""A share of pairs in order from which on methods hardly differ to a reader."""


def _probabilities(summary: Frame, calibration: Mapping[str, CalibrationSummary]) -> list[Finding]:
    """How far stated probabilities are from what happens, once calibrated."""
    errors = {row: each.calibrated.mean("ece") for row, each in calibration.items()}
    if not errors:
        return []
    low, high = min(errors, key=errors.__getitem__), max(errors, key=errors.__getitem__)
    text = (
        f"Probabilities: after calibration, those of {display_name(low)} are off by {100 * errors[low]:.1f} "
        "percentage points on average"
    )
    text += "." if high == low else f", those of {display_name(high)} by {100 * errors[high]:.1f}."
    trained = ", ".join(f"{display_name(row)} {each.trained.mean('ece'):.3f}" for row, each in calibration.items())
    details = [f"Expected calibration error as trained: {trained}."]
    coverage = summary[(summary["metric"] == "interval_coverage") & summary["mean"].notna()]
    if len(coverage):
        shares = zip(coverage["method"], coverage["mean"], strict=True)
        told = ", ".join(f"{display_name(row)} {percent(share)}" for row, share in shares)
        details.append(
            f"Intervals that should hold the true class in {percent(1 - ALPHA)} of samples do so in: {told}."
        )
    return [Finding(text=text, details=tuple(details))]


def _rows_that_do_not_count(runs: Frame, chance: Mapping[str, float]) -> list[str]:
    """Rows most runs of which kept one of their first epochs, out of order, and rows no better than a constant."""
    found, flat = [], []
    for label, own in runs.groupby("label", sort=False):
        name, level = display_name(str(label)), chance.get(str(label), np.nan)
        epochs = zip(own["best_epoch"], own["most_epochs"], own["selected_by"], own["test_soi_predicted"], strict=True)
        early = sum(hardly_trained(*run, order=order, chance=level) for *run, order in epochs)
        if 2 * early > len(own):
            found.append(
                f"{name} kept its first or second epoch in {early} of {len(own)} runs, by the "
                f"validation {own['selected_by'].iloc[0]}, with no more consistency than random "
                "guessing: it is hardly trained, so its figures do not count. Another --select (rps, last), another "
                "--lr or a stronger network may help."
            )
        errors = zip(own["valid_mae"], own["constant_mae"], strict=True)
        as_good = sum(no_better_than_constant(mae, constant) for mae, constant in errors)
        if 2 * as_good > len(own):
            flat.append(f"{name} (in {as_good} of {len(own)} runs)")
    if flat:
        found.append(
            f"The validation MAE of {enumerated(flat)} is no better than that of one constant class: more "
            "samples, more epochs, smaller batches, another learning rate or a stronger network may help."
        )
    return found


def _order_sentence(
    runs: Frame, chance: Mapping[str, float], orders: Mapping[str, float], *, named: Collection[str]
) -> list[str]:
    """How many pairs each row orders, the best first; of many rows, those at both ends and those named elsewhere."""
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
    levels = chance_in_words(chances, percent)
    return f" (random guessing {levels})" if levels else ""


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


def _named_if_few(names: list[str], word: str = "and") -> str:
    return enumerated(names, word=word) if len(names) <= MOST_NAMED else f"{len(names)} methods"


def _against_sentence(mae: Frame, against: str) -> str:
    """Which errors differ from that of one row, and in which direction; Holm corrects for all of them."""
    real = mae["p_value"] < LEVEL
    kinds = {
        "significantly lower": real & (mae["difference"] < 0),
        "significantly higher": real & (mae["difference"] > 0),
        "no significant difference": mae["p_value"] >= LEVEL,
    }
    verdicts = [f"{enumerated(names)} {how}" for how, rows in kinds.items() if (names := _names(mae[rows]))]
    return f"MAE against {display_name(against)} (Holm): {'; '.join(verdicts)}."


def _names(rows: Frame) -> list[str]:
    return [display_name(label) for label in rows["method"]]


def _alone(row: dict[Any, Any], soi: float, chance: Mapping[str, float]) -> str:
    guessing = _guessing({row["decision"]: chance.get(row["method"], np.nan)})
    return (
        f"{display_name(row['method'])}: MAE {_mean(row)} over {counted(row['n'], 'run')}, "
        f"{percent(soi)} of adjacent pairs in order{guessing}."
    )


def _mean(row: dict[Any, Any]) -> str:
    digits = 2 if row["mean"] >= 1 else 3
    spread = "" if np.isnan(row["std"]) else f" ± {row['std']:.{digits}f}"
    return f"{row['mean']:.{digits}f}{spread}"
