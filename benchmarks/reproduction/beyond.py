"""Does order cost accuracy? Compares methods that keep it with those that do not, and checks the stated goals."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure

from onepeak._core.wording import counted
from onepeak.methods.catalog import is_known
from onepeak.report.figures.tradeoff import name_beside
from onepeak.report.palette import styles
from reproduction.against import Tested, against
from reproduction.runs import figure
from reproduction.text import MINUS, number, p_value, spread, table

SHOWN = {
    "valid_mae": ("validation MAE", 2, 1),
    "test_mae": ("MAE", 2, 1),
    "test_soi_predicted": ("SOI %", 2, 100),
    "test_unimodal": ("one-peaked %", 1, 100),
    "test_rps": ("RPS as trained", 2, 1),
    "test_rps_calibrated": ("RPS, tempered", 2, 1),
    "test_nll_calibrated": ("NLL, tempered", 2, 1),
}
"""The columns, each with its name on the page, decimals and factor for display."""
TESTED = {"test_mae": "MAE", "test_rps_calibrated": "RPS", "test_nll_calibrated": "NLL"}
_MET = {True: "met", False: "**missed**"}
SMALLER_STEPS = "-slow"
"""How labels of methods with a smaller learning rate end."""
REFERENCES = ("elb", "elb-averaged", "elb-slow", "ren", "ren-slow")
LEAST_SOI, LEAST_UNIMODAL, SIGNIFICANT = 0.999, 0.97, 0.05


def whole(runs: pd.DataFrame) -> pd.DataFrame:
    """Keeps the methods that were run on every split; only these are compared."""
    return runs[runs.groupby("label")["split"].transform("nunique") == runs["split"].nunique()]


def common_steps(runs: pd.DataFrame) -> pd.DataFrame:
    """The methods trained with the experiment's own learning rate."""
    return runs[~runs["label"].str.endswith(SMALLER_STEPS)]


def smaller_steps(runs: pd.DataFrame) -> pd.DataFrame:
    """The methods trained with three tenths of it."""
    return runs[runs["label"].str.endswith(SMALLER_STEPS)]


def beyond_table(runs: pd.DataFrame) -> str:
    """Every method's figures, lowest validation error first, since that is what a method may be selected by."""
    rows = []
    for label in _by_validation(runs):
        own = runs[runs["label"] == label]
        figures = (
            spread(figure(own, name), digits, scale=by, with_runs=False) for name, (_, digits, by) in SHOWN.items()
        )
        rows.append((label, *figures))
    splits = counted(runs["split"].nunique(), "split")  # every method has all of them
    return table((f"method ({splits})", *(title for title, _, _ in SHOWN.values())), rows)


def beyond_tests(runs: pd.DataFrame, reference: str) -> str:
    """Every method minus a reference, on the same splits."""
    labels = [label for label in _by_validation(runs) if label != reference]
    found = {column: against(runs, column, labels, reference) for column in TESTED}
    rows = [
        [label, str(found["test_mae"][place].n), *(cell for column in TESTED for cell in _cells(found[column][place]))]
        for place, label in enumerate(labels)
    ]
    header = [cell for title in TESTED.values() for cell in (f"{title} {MINUS} {reference}'s", "p")]
    return table(("method", "splits", *header), rows)


def goal(runs: pd.DataFrame) -> str:
    """Which goals two methods meet on the test parts: the lowest in validation error of all, and of the ordered.

    ELB and REN, the methods to compare with, are no candidates, whatever their recipe. A method counts as ordered if it
    meets both goals for order on the validation parts.
    """
    means = runs.groupby("label")[["valid_soi_predicted", "valid_unimodal"]].mean()
    ours = [label for label in _by_validation(runs) if label not in REFERENCES]
    in_order = (means["valid_soi_predicted"] >= LEAST_SOI) & (means["valid_unimodal"] >= LEAST_UNIMODAL)
    orderly = [label for label in ours if in_order[label]]
    chosen = list(dict.fromkeys([*ours[:1], *orderly[:1]]))
    columns = [_aims(runs, label) for label in chosen]
    rows = [(aim, *(column[aim] for column in columns)) for aim in columns[0]]
    return table(("aim", *(f"`{label}`" for label in chosen)), rows)


def _aims(runs: pd.DataFrame, chosen: str) -> dict[str, str]:
    own = runs[runs["label"] == chosen]
    labels = [label for label in dict.fromkeys(runs["label"]) if label != "elb"]
    holm = dict(zip(labels, against(runs, "test_mae", labels, "elb"), strict=True))[chosen]
    barrier = against(runs, "test_mae", [chosen], "elb")[0]  # chosen without the test parts: a single test
    levels = against(runs, "test_mae", [chosen], "ren")[0]
    steps = SMALLER_STEPS if chosen.endswith(SMALLER_STEPS) else ""
    alike = {name: against(runs, "test_mae", [chosen], f"{name}{steps}")[0] for name in ("elb", "ren")}
    soi, unimodal = float(own["test_soi_predicted"].mean()), float(own["test_unimodal"].mean())
    verdict = _MET[_below(barrier)]
    if verdict == "met" and holm.p >= SIGNIFICANT:
        verdict = "open"
    lowest = {column: _lowest(runs, column, chosen) for column in TESTED}
    return {
        "the lowest MAE of all": lowest["test_mae"],
        "MAE significantly below ELB's": f"{verdict}: {_told(barrier)} alone, {p_value(holm.p)} after Holm",
        "the same, ELB with the same steps": f"{_MET[_below(alike['elb'])]}: {_told(alike['elb'])} alone",
        "MAE not above REN's": f"{_MET[levels.mean <= 0]}: {_told(levels)}",
        "the same, REN with the same steps": f"{_MET[alike['ren'].mean <= 0]}: {_told(alike['ren'])}",
        "SOI of 99.9 %": f"{_MET[soi >= LEAST_SOI]}: {number(100 * soi, 2)} %",
        "97 % of posteriors with one peak": f"{_MET[unimodal >= LEAST_UNIMODAL]}: {number(100 * unimodal, 1)} %",
        "the lowest RPS, tempered": lowest["test_rps_calibrated"],
        "the lowest NLL, tempered": lowest["test_nll_calibrated"],
    }


def beyond_image(runs: pd.DataFrame) -> Figure:
    """Error against posteriors with more than one peak, by step size: accurate to the left, ordered at the top.

    Names stand by methods with their default settings and by those that no other beats in both.
    """
    looks = styles(dict(zip(runs["label"], runs["method"], strict=True)))
    parts = {"common steps": common_steps(runs), "smaller steps": smaller_steps(runs)}
    figure = Figure(figsize=(8, 4 * len(parts)), dpi=120, layout="constrained")
    panels = []
    for axes, (title, part) in zip(figure.subplots(len(parts), sharex=True, sharey=True), parts.items(), strict=True):
        means = part.groupby("label")[["test_mae", "test_unimodal"]].mean()
        points = pd.DataFrame({"error": means["test_mae"], "peaks": 100 - 100 * means["test_unimodal"]})
        points["colour"] = [looks[label].colour for label in points.index]
        axes.scatter(points["error"], points["peaks"], color=points["colour"], s=22)
        axes.set(title=title, ylabel="posteriors with more peaks than one, %")
        axes.spines[["top", "right"]].set_visible(False)
        panels.append((axes, points.rename(index=lambda label: label.removesuffix(SMALLER_STEPS))))
    axes.set_xlabel("MAE, years (mean of the splits)")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(150, -0.3)
    axes.set_yticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    for axes, points in panels:  # once the axes have their final limits
        places = points[["error", "peaks"]].to_numpy()
        named = [is_known(name) or not _beaten(place, places) for name, place in zip(points.index, places, strict=True)]
        known = dict(zip(points.index[named], map(tuple, places[named].tolist()), strict=True))
        axes.set_xlim(axes.get_xlim())
        name_beside(axes, known, points["colour"].to_dict())
    return figure


def _beaten(place: npt.NDArray[np.float64], places: npt.NDArray[np.float64]) -> bool:
    """Whether another point is lower in one figure and not higher in the other."""
    return bool(((places <= place).all(axis=1) & (places < place).any(axis=1)).any())


def _by_validation(runs: pd.DataFrame) -> list[str]:
    return [str(label) for label in runs.groupby("label")["valid_mae"].mean().sort_values().index]


def _lowest(runs: pd.DataFrame, column: str, chosen: str) -> str:
    means = runs.groupby("label")[column].mean().sort_values()
    seen = number(float(means[chosen]), 2)
    return (
        f"met: {seen}"
        if means.index[0] == chosen
        else f"**missed**: {seen} ({means.index[0]}: {number(means.iloc[0], 2)})"
    )


def _cells(each: Tested) -> tuple[str, str]:
    return number(each.mean, 2, signed=True), p_value(each.p)


def _below(each: Tested) -> bool:
    return each.mean < 0 and each.p < SIGNIFICANT


def _told(each: Tested) -> str:
    return f"{number(each.mean, 2, signed=True)}, p {p_value(each.p)}"
