"""The findings in the tables as sentences, generated from the figures."""

import pandas as pd

from onepeak._core.wording import counted
from onepeak.experiment.plan import PAPER_METHODS
from onepeak.experiment.published import published_figure
from onepeak.experiment.statistics import corrected_t_test, paired
from onepeak.metrics.functional import side_order_chance
from reproduction.beside import UNEXPLAINED, Difference, Explanations
from reproduction.runs import DATASET, FORMS, NUM_CLASSES, WANTED, figure, of_the_paper
from reproduction.text import number, p_value


def state(runs: pd.DataFrame) -> str:
    """How many of the runs exist."""
    own = of_the_paper(runs)
    parts = []
    for form, title in FORMS.items():
        rows = own[own["variant"] == form]
        splits = rows.groupby("method").size().reindex(list(PAPER_METHODS), fill_value=0)
        each = ", ".join(f"{method.upper()} {splits[method]}" for method in PAPER_METHODS if splits[method])
        parts.append(f"{title} {len(rows)} of {WANTED[form]}" + (f" (splits: {each})" if each else ""))
    if all((own["variant"] == form).sum() == wanted for form, wanted in WANTED.items()):
        return f"All runs are complete: {'; '.join(parts)}."
    return f"Runs so far: {'; '.join(parts)}. Means and standard errors of few runs are uncertain."


def in_short(runs: pd.DataFrame, found: list[Difference], explanations: Explanations) -> str:
    """The main findings as a list."""
    own = of_the_paper(runs)
    own = own[own["variant"] == "corrected"]
    lines = [
        _order(own),
        _ranking(own),
        _barrier(own),
        *(
            _agreement([each for each in found if each.form == form], title, explanations)
            for form, title in FORMS.items()
        ),
    ]
    return "\n".join(f"- {line}" for line in lines if line)


def claim(runs: pd.DataFrame) -> str:
    """On how many splits the paper's claim holds, as a sentence."""
    own = of_the_paper(runs)
    own = own[own["variant"] == "corrected"]
    order, error = (
        own.pivot(index="split", columns="method", values=column).reindex(columns=["ce", "pn", "elb"]).dropna()
        for column in ("test_soi_predicted", "test_mae")
    )
    ordered = int((order["elb"] > order[["ce", "pn"]].max(axis=1)).sum())
    as_accurate = int((error["elb"] < error["ce"]).sum())
    return (
        f"On {ordered} of {counted(len(order), 'split')} ELB keeps more pairs in order than both others, on "
        f"{as_accurate} its MAE is lower than cross-entropy's. Adjacent pairs in order: {_percent(order['elb'])} with "
        f"ELB, {_percent(order['pn'])} with the penalty, {_percent(order['ce'])} with cross-entropy."
    )


def _percent(shares: "pd.Series[float]") -> str:
    return f"{number(100 * float(shares.mean()), 1)} %"


def _order(runs: pd.DataFrame) -> str:
    parts = []
    for method in ("elb", "pn", "ce"):
        ours = figure(runs[runs["method"] == method], "test_soi_predicted")
        printed = published_figure(DATASET, method, "soi_predicted")
        if ours is not None and printed is not None:
            parts.append(f"{method.upper()} {number(100 * ours.mean, 1)} (paper: {number(100 * printed.mean, 1)})")
    chance = 100 * side_order_chance(NUM_CLASSES)
    return f"**Order.** Adjacent pairs in order (%): {', '.join(parts)}; chance {number(chance, 1)}." if parts else ""


def _ranking(runs: pd.DataFrame) -> str:
    if runs.empty:
        return ""
    means = {str(method): float(mean) for method, mean in runs.groupby("method")["test_mae"].mean().items()}
    printed = {m: f.mean for m in PAPER_METHODS if (f := published_figure(DATASET, m, "mae")) is not None}
    return f"**Error.** MAE, lowest first: {_ascending(means)}. In the paper: {_ascending(printed)}."


def _ascending(means: dict[str, float]) -> str:
    return ", ".join(f"{method.upper()} {number(means[method], 2)}" for method in sorted(means, key=means.__getitem__))


def _barrier(runs: pd.DataFrame) -> str:
    pairs = paired(runs, "test_mae", "elb", "ce")
    n = len(pairs.differences)
    if n == 0:
        return ""
    mean = float(pairs.differences.mean())
    said = f"**The barrier.** ELB's MAE minus cross-entropy's is {number(mean, 2, signed=True)}"
    if n < 2:
        return f"{said} on the one split that both have."
    p = corrected_t_test(pairs.differences, test_train_ratio=pairs.test_train_ratio)
    printed = [published_figure(DATASET, method, "mae") for method in ("elb", "ce")]
    less = printed[0].mean - printed[1].mean if printed[0] and printed[1] else float("nan")
    return (
        f"{said} over {counted(n, 'split')} (corrected resampled t-test for this pair alone: p {p_value(p)}); in "
        f"the paper: {number(less, 2, signed=True)}."
    )


def _agreement(found: list[Difference], title: str, explanations: Explanations) -> str:
    judged = [each for each in found if each.large is not None]
    if not judged:
        return ""
    large = [each for each in judged if each.large]
    open_ones = [
        f"{each.method.upper()} ({'MAE' if each.metric == 'mae' else 'SOI'})"
        for each in large
        if explanations.get(each.form, {}).get(each.metric, {}).get(each.method, UNEXPLAINED).startswith(UNEXPLAINED)
    ]
    left = f"; unexplained, at least in part: {', '.join(open_ones)}" if open_ones else ""
    return (
        f"**{title.capitalize()}.** {len(judged) - len(large)} of {len(judged)} figures lie within two standard errors "
        f"of the paper's{left}."
    )
