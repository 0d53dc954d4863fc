"""Makes the page on ten splits of FG-NET from its committed records.

Run: python benchmarks/beyond.py            (after benchmarks/keep_records.py has added runs to results/fgnet-beyond)
or:  python benchmarks/beyond.py --check    (writes nothing; fails if a file does not match the records)
Writes the text between `<!-- made: NAME -->` and `<!-- end of made -->` in results/fgnet-beyond/README.md, tests.csv
(every method minus its references) and error-peaks.png.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure

from figure_names import name_beside
from onepeak._core.wording import counted
from onepeak.methods.catalog import is_known
from onepeak.report.palette import styles
from reproduction.differences import Tested, against
from reproduction.records import figure, read_runs
from reproduction.text import filled, number, p_value, spread, table

BEYOND = "results/fgnet-beyond/README.md"
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


def beyond_tests(runs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Every method minus a reference on the same splits: mean differences, and p-values after Holm's correction."""
    labels = [label for label in _by_validation(runs) if label != reference]
    columns: dict[str, list[object]] = {"method": list(labels), "reference": [reference] * len(labels)}
    for column, title in TESTED.items():
        found = against(runs, column, labels, reference)
        columns["splits"] = [each.n for each in found]
        columns[title] = [round(each.mean, 2) for each in found]
        columns[f"{title}, p"] = [round(each.p, 3) for each in found]
    return pd.DataFrame(columns)


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
        name_beside(axes, known, {str(name): colour for name, colour in points["colour"].items()})
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


def _below(each: Tested) -> bool:
    return each.mean < 0 and each.p < SIGNIFICANT


def _told(each: Tested) -> str:
    return f"{number(each.mean, 2, signed=True)}, p {p_value(each.p)}"


def files_of(root: Path) -> dict[Path, str]:
    """The page and tests.csv, as made from the records below a checkout's root."""
    page = root / BEYOND
    runs = whole(read_runs(page.parent))
    common, smaller = common_steps(runs), smaller_steps(runs)
    makers: dict[str, Callable[[], str]] = {
        "beyond-goal": lambda: goal(runs),
        "beyond": lambda: beyond_table(common),
        "beyond-steps": lambda: beyond_table(smaller),
    }
    tests = [beyond_tests(common, name) for name in ("elb", "ren")]
    tests += [beyond_tests(smaller, f"{name}{SMALLER_STEPS}") for name in ("elb", "ren")]
    return {
        page: filled(page.read_text(encoding="utf-8"), makers),
        page.with_name("tests.csv"): pd.concat(tests).to_csv(index=False, lineterminator="\n"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a file is not up to date")
    root = Path(__file__).parents[1]
    files = files_of(root)
    old = [path.name for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if parser.parse_args().check:
        sys.exit(f"Not what the records say: {', '.join(old)}. Run python benchmarks/beyond.py" if old else 0)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    beyond_image(whole(read_runs((root / BEYOND).parent))).savefig((root / BEYOND).with_name("error-peaks.png"))
    print(f"changed: {', '.join(old) or 'none'}")


if __name__ == "__main__":
    main()
