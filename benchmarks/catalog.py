"""Summarises a comparison of the whole catalog on several data sets: one line per run, a table, diagrams.

Run: python benchmarks/catalog.py FOLDER... --out results/catalog   (folders of onepeak compare, one per data set)
or:  python benchmarks/catalog.py results/catalog/runs.csv --out results/catalog   (from the committed lines)
Writes runs.csv, methods.csv and sets.csv (a line a method: over all data sets, and on each), ranks-mae.png,
ranks-rps_tempered.png, ranks-soi_predicted.png and accuracy-consistency.png; prints the median method of each family.
Method: figures are means over the folds of a data set. Errors of different data sets cannot be averaged, so MAE and RPS
are ratios to those of cross-entropy on the same folds, averaged as logarithms. Ranks are over all methods of a data
set; ties share a rank. Folds that not all methods finished are left out. Friedman's test and Nemenyi's critical
difference are those of onepeak.experiment.statistics.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import onepeak
from figure_names import name_beside
from onepeak.experiment.results import read_results
from onepeak.experiment.statistics import RankComparison, compare_ranks
from onepeak.report.tables import critical_difference_diagram

METRICS = {
    "mae": False,
    "rps": False,
    "rps_tempered": False,
    "soi_predicted": True,
    "unimodal": True,
    "nll": False,
    "accuracy": True,
}
"""The metrics kept for every run, and whether higher is better."""
RANKED = {
    "mae": "mean absolute error",
    "rps_tempered": "ranked probability score, calibrated",
    "soi_predicted": "side order index",
}
COLOURS = {
    "plain": "#333333",
    "distance": "#4c78a8",
    "soft-labels": "#f58518",
    "levels": "#54a24b",
    "distribution": "#b279a2",
    "constraint": "#e45756",
}


def lines_of(folders: list[Path]) -> pd.DataFrame:
    """Returns one line per run."""
    runs = read_results(*folders)
    columns = {"dataset": runs["dataset"], "method": runs["label"], "split": runs["split"], "fold": runs["fold"]}
    figures = {name: runs[f"test_{name}"].round(5) for name in METRICS if name != "rps_tempered"}
    figures["rps_tempered"] = runs["test_rps_calibrated"].round(5)
    others = {"best_epoch": runs["best_epoch"], "seconds": runs["seconds"].round(1)}
    return pd.DataFrame({**columns, **figures, **others})


def whole_folds(runs: pd.DataFrame) -> pd.DataFrame:
    """Keeps the folds that every method has: means over different folds would not be comparable."""
    counts = runs.groupby(["dataset", "split", "fold"])["method"].transform("nunique")
    kept = runs[counts == runs["method"].nunique()]
    for dataset, part in runs.groupby("dataset"):
        folds = len(kept[kept["dataset"] == dataset].drop_duplicates(["split", "fold"]))
        print(f"{dataset}: {folds} folds, {len(part) - len(kept[kept['dataset'] == dataset])} runs of others left out")
    return kept


def ranks(means: pd.DataFrame, metric: str) -> RankComparison:
    """Returns the methods' mean ranks over data sets."""
    values = means[metric].unstack("method")
    return compare_ranks(values.to_numpy(), tuple(values.columns), higher_is_better=METRICS[metric])


def family_of(method: str) -> str:
    """The family in the catalog; combinations ("smooth-elb", "rps+elb-weight-0.3") count as constraints here."""
    families = {record.name: record.family for record in onepeak.methods()}
    return families.get(method, "constraint")


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns one line per method, lowest error first."""
    means = runs.groupby(["dataset", "method"])[list(METRICS)].mean()
    methods = list(runs["method"].unique())
    table = pd.DataFrame({"family": [family_of(method) for method in methods]}, index=methods)
    for metric in ("mae", "rps", "rps_tempered"):
        values = means[metric].unstack("method")
        table[f"{metric} / ce"] = np.exp(np.log(values.div(values["ce"], axis=0)).mean())
        if metric == "rps":  # the tempered one is more informative
            continue
        found = ranks(means, metric)
        table[f"rank {metric}"] = pd.Series(found.mean_ranks, index=list(found.methods))
    for metric in ("soi_predicted", "unimodal"):
        values = means[metric].unstack("method")
        table[metric], table[f"{metric}, worst set"] = 100 * values.mean(), 100 * values.min()
    errors = means["mae"].unstack("method")
    table["sets better than ce"] = errors.lt(errors["ce"], axis=0).sum()
    table["seconds"] = runs.groupby("method")["seconds"].mean()
    return table.sort_values("rank mae")


def by_data_set(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean MAE and SOI of each method on each data set."""
    means = runs.groupby(["method", "dataset"])[["mae", "soi_predicted"]].mean().unstack("dataset")
    shown = {
        f"{dataset} {'MAE' if name == 'mae' else 'SOI %'}": means[name][dataset]
        * (100 if name == "soi_predicted" else 1)
        for dataset in means["mae"].columns
        for name in ("mae", "soi_predicted")
    }
    return pd.DataFrame(shown)


def by_family(table: pd.DataFrame) -> pd.DataFrame:
    """Returns the median method of each family, and its best by rank."""
    grouped = table.groupby("family")
    found = grouped[
        ["rank mae", "mae / ce", "rank rps_tempered", "rps_tempered / ce", "soi_predicted", "unimodal"]
    ].median()
    found.insert(0, "methods", grouped.size())
    found["best rank mae"] = grouped["rank mae"].idxmin()
    return found.sort_values("rank mae")


def scatter(table: pd.DataFrame) -> Figure:
    """Plots accurate methods to the left, consistent ones at the top."""
    figure = Figure(figsize=(9, 7.5), dpi=110, layout="constrained")
    axes = figure.subplots()
    for family, colour in COLOURS.items():
        part = table[table["family"] == family]
        axes.scatter(part["rank mae"], 100 - part["soi_predicted"], color=colour, label=family, s=22)
    axes.set_yscale("symlog", linthresh=0.1)
    axes.set_ylim(40, -0.045)
    axes.set_yticks([0, 0.1, 1, 10, 30], ["0", "0.1", "1", "10", "30"])
    axes.set_xlabel("mean rank by MAE (the fewer, the more accurate)")
    axes.set_ylabel("adjacent pairs out of order to the prediction, %")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=len(COLOURS))
    shown = table.sort_values(["rank mae", "soi_predicted"])
    points = zip(shown["rank mae"], 100 - shown["soi_predicted"], strict=True)
    colours = [COLOURS[family] for family in shown["family"]]
    axes.set_xlim(axes.get_xlim())
    name_beside(axes, dict(zip(shown.index, points, strict=True)), dict(zip(shown.index, colours, strict=True)))
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    lines = given.sources[0].suffix == ".csv"
    runs = pd.read_csv(given.sources[0]) if lines else lines_of(given.sources)
    runs = whole_folds(runs)
    given.out.mkdir(parents=True, exist_ok=True)
    if not lines:
        runs.to_csv(given.out / "runs.csv", index=False)
    table, means = summary(runs), runs.groupby(["dataset", "method"])[list(METRICS)].mean()
    for metric, title in RANKED.items():
        found = ranks(means, metric)
        figure = critical_difference_diagram(found, title=f"mean rank by {title}")
        figure.savefig(given.out / f"ranks-{metric}.png", dpi=110, bbox_inches="tight")
        print(f"{metric}: Friedman p = {found.p_value:.2g}, critical difference {found.critical_difference:.1f}")
    scatter(table).savefig(given.out / "accuracy-consistency.png")
    table.round(3).to_csv(given.out / "methods.csv", index_label="method")
    by_data_set(runs).loc[table.index].round(3).to_csv(given.out / "sets.csv", index_label="method")
    print(by_family(table).round(2).to_string())


if __name__ == "__main__":
    main()
