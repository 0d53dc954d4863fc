"""Which methods are best with few labels, and which with many: the same samples with ever finer labels.

Run: python benchmarks/label_counts.py make DATA
     METHODS=$(python benchmarks/label_counts.py methods)
     for c in 3 5 10 30 100; do
       onepeak compare DATA/friedman-$c.csv --methods $METHODS --protocol kfold --epochs 100 --batch-size 32 --lr 1e-2 \
         --device cpu --out OUT/friedman-$c
       onepeak compare DATA/images-$c.csv --methods $METHODS --protocol kfold --epochs 12 --batch-size 32 --lr 2e-3 \
         --backbone small --device cpu --out OUT/images-$c
     done
     python benchmarks/label_counts.py table OUT/* --out results/labels
or:  python benchmarks/label_counts.py table results/labels/runs.csv --out results/labels   (from the committed lines)
Data: `images`, the images of `biopsies` at half the size, graded again in c grades by the same reader; `friedman`,
2,000 rows of Friedman's first function of 10 columns with noise, cut into c classes of equal size. The information in a
sample does not depend on c; with 100 classes there are about 20 samples of each.
Method: means over five folds, test parts. An error in classes grows with their number, so errors are divided by the
lowest one of all methods with as many classes: 1 is best. Writes runs.csv and error-by-labels.png, and prints
tables.
"""

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import make_friedman1

from onepeak.data.datasets.biopsies import GRADES, NOISE, biopsies, hidden_severity
from onepeak.data.datasets.biopsies_drawing import Chance, Use
from onepeak.data.manifest import ImageArrays
from onepeak.experiment.plan import entry_from_text
from onepeak.experiment.results import read_results

COUNTS = (3, 5, 10, 30, 100)
NUM_SAMPLES = 2000
LINES = {
    "ce": ("#333333", "--"),
    "elb": ("#e45756", "-"),
    "rps+elb:weight=0.3": ("#f58518", "-"),
    "ren": ("#b279a2", "--"),
    "corn": ("#9d755d", "--"),
    "po": ("#bab0ac", "--"),
    "slopes:levels=logistic": ("#54a24b", ":"),
    "slopes": ("#54a24b", "-"),
    "smooth-slopes": ("#4c78a8", "-"),
    "smooth-elb": ("#e45756", ":"),
    "smooth-rps+elb:weight=0.3": ("#f58518", ":"),
    "smooth-elb:t=3": ("#e45756", "-."),
    "smooth-rps+elb:weight=1:cross_entropy_weight=1:t=3:decision=mode": ("#f58518", "-."),
}
"""The methods as given to commands, and how each is drawn."""
LABELS = {entry_from_text(method).label: method for method in LINES}
"""Labels of the rows of a comparison."""
METRICS = {"mae": "MAE", "rps_tempered": "RPS, tempered", "soi_predicted": "SOI %", "unimodal": "one-peaked %"}
RELATIVE = ("mae", "rps_tempered")
"""Metrics shown relative to the lowest of all methods."""


def make(folder: Path) -> None:
    """Writes the data: one file for each number of classes."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    biopsy = biopsies(NUM_SAMPLES, size=32)
    names = [f"pictures/{place:04d}.png" for place in range(NUM_SAMPLES)]
    assert isinstance(biopsy.items, ImageArrays)
    for name, pixels in zip(names, biopsy.items.pixels, strict=True):
        Image.fromarray(pixels).save(folder / name)
    columns, target = make_friedman1(NUM_SAMPLES, n_features=10, noise=1.0, random_state=0)
    rows = pd.DataFrame(columns).add_prefix("x").round(6)
    severity, rank = severity_read(NUM_SAMPLES), target.argsort().argsort() / NUM_SAMPLES
    for count in COUNTS:
        graded = pd.DataFrame({"path": names, "label": cut(severity, count), "group": biopsy.groups})
        graded.to_csv(folder / f"images-{count}.csv", index=False)
        rows.assign(label=cut(rank, count)).to_csv(folder / f"friedman-{count}.csv", index=False)


def severity_read(num_samples: int) -> npt.NDArray[np.float64]:
    """The severity in images of `biopsies` as a grader reads it, with an error: from 0 to 1, or slightly outside."""
    ids = np.arange(num_samples)
    chance = Chance(0, Use.LABEL, ids).between(0.0, 1.0)
    error = NOISE * np.log(chance / (1 - chance))
    return np.asarray((hidden_severity(0, ids, ids // 5) + error) / len(GRADES))


def cut(share: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.int64]:
    """Classes of equal width.

    Example:
        >>> cut(np.array([-0.1, 0.0, 0.19, 0.2, 1.3]), 5)
        array([0, 0, 0, 1, 4])
    """
    return np.floor(share * count).clip(0, count - 1).astype(np.int64)


def lines_of(folders: list[Path]) -> pd.DataFrame:
    """Returns one line per run."""
    runs = read_results(*folders)
    data = runs["dataset"].str.rsplit("-", n=1, expand=True)
    columns = {
        "data": data[0],
        "labels": data[1].astype(int),
        "method": runs["label"].replace(LABELS),
        "fold": runs["fold"],
    }
    figures = {name: runs[f"test_{name}"] for name in METRICS if name != "rps_tempered"}
    figures["rps_tempered"] = runs["test_rps_calibrated"]
    return pd.DataFrame({**columns, **figures}).round(5)


def check_whole(runs: pd.DataFrame) -> None:
    """Refuses incomplete folds: means over different folds would not be comparable."""
    folds = runs.groupby(["data", "labels", "method"]).size()
    if folds.nunique() > 1:
        raise SystemExit(f"Not all methods have as many folds:\n{folds[folds < folds.max()].to_string()}")


def by_labels(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Means over the folds: one row per method, one column per number of labels."""
    return runs.pivot_table(index="method", columns="labels", values=metric).loc[list(LINES)]


def drawn(runs: pd.DataFrame) -> Figure:
    """Plots the relative error against the number of labels."""
    sets = runs.groupby("data")
    figure = Figure(figsize=(5.2 * len(sets), 4.6), layout="constrained")
    for axes, (data, part) in zip(figure.subplots(1, len(sets), sharey=True, squeeze=False)[0], sets, strict=True):
        table = by_labels(part, "mae")
        for method, (colour, style) in LINES.items():
            over = table.loc[method] / table.min()
            axes.plot(table.columns, over, color=colour, linestyle=style, marker="o", markersize=4, label=method)
        axes.set_xscale("log")
        axes.set_xticks(table.columns, [str(count) for count in table.columns])
        axes.minorticks_off()
        axes.set(xlabel="labels", title=str(data))
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("MAE over the lowest of all methods")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, frameon=False, fontsize=8, loc="outside lower center", ncols=4)
    return figure


def markdown(runs: pd.DataFrame) -> str:
    """Returns one table per metric."""
    parts = []
    for metric, title in METRICS.items():
        table = by_labels(runs, metric)
        if metric in RELATIVE:
            lowest = table.min()
            table, title, decimals = table / lowest, f"{title} over the lowest", 2
            last = [f"| the lowest | {' | '.join(f'{value:.3f}' for value in lowest)} |"]
        else:
            table, decimals, last = 100 * table, 1, []
        head = [f"| {title} | {' | '.join(map(str, table.columns))} |", "|" + "---|" * (1 + len(table.columns))]
        rows = [
            f"| {name} | {' | '.join(f'{value:.{decimals}f}' for value in row)} |" for name, row in table.iterrows()
        ]
        parts.append("\n".join([*head, *rows, *last]))
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("make").add_argument("folder", type=Path)
    steps.add_parser("methods")
    table = steps.add_parser("table")
    table.add_argument("sources", type=Path, nargs="+")
    table.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.step == "make":
        make(given.folder)
    elif given.step == "methods":
        print(",".join(LINES))
    else:
        lines = given.sources[0].suffix == ".csv"
        runs = pd.read_csv(given.sources[0]) if lines else lines_of(given.sources)
        check_whole(runs)
        given.out.mkdir(parents=True, exist_ok=True)
        runs.to_csv(given.out / "runs.csv", index=False, lineterminator="\n")
        drawn(runs).savefig(given.out / "error-by-labels.png", dpi=110)
        for data, part in runs.groupby("data"):
            print(f"### {data}\n\n{markdown(part)}\n")


if __name__ == "__main__":
    main()
