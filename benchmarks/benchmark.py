"""Compares methods on real data sets, each with the learning rate that suits it best on validation.

Run: python benchmarks/benchmark.py train experiments/benchmark/SET.toml --out D [--root R] [flags of onepeak compare]
Then: python benchmarks/benchmark.py keep D...    (adds their runs to results/benchmark/runs.csv)
Then: python benchmarks/benchmark.py page [--check]    (tables and figures from runs.csv)

Method: every method is trained on the first split with a third of the default learning rate, the default and three
times as much. The rate with the lowest validation MAE is its own on all splits (the lower rate if two are equal).
Everything else is the default of `onepeak train` for the data, unless the experiment's file says otherwise. With
--freeze only a last layer is trained, on features of the backbone: minutes on a CPU; the set's name then ends with
"-frozen", and terms on features are left out. Both stages resume where they stopped. Ranks, Friedman's test and
critical differences are those of onepeak.experiment.statistics.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from benchmark_page import FROZEN, RUNS, chosen_rates, write_page
from onepeak._core.formats import toml_text
from onepeak.experiment.plan import Experiment, plan_content, read_plan
from onepeak.experiment.prepared import check_with, open_manifest
from onepeak.experiment.results import read_results

FACTORS = (1 / 3, 1.0, 10 / 3)
"""Learning rates that are tried, as multiples of the default."""
MARK = "-lr"
"""Between a row's name and its learning rate."""
PLAN, COMPARISON = "plan.toml", "comparison"
METRICS = ("mae", "qwk", "rps_calibrated", "nll_calibrated", "soi_predicted", "unimodal", "accuracy")
"""The metrics of the test part that are kept."""
KEY = ["set", "method", "lr", "split", "fold"]


def with_rates(plan: Experiment) -> Experiment:
    """Returns the plan with a row for every method and learning rate."""
    default = check_with(open_manifest(plan), plan).lr
    rates = [float(f"{default * factor:.2g}") for factor in FACTORS]
    rows = [
        replace(entry, recipe={**entry.recipe, "lr": rate}, label=f"{entry.label}{MARK}{rate:g}")
        for entry in plan.methods
        for rate in rates
    ]
    return replace(plan, methods=tuple(rows))


def compare(out: Path, flags: Iterable[str]) -> None:
    """Calls `onepeak compare`, which trains what is missing."""
    where = [str(out / PLAN), "--out", str(out / COMPARISON)]
    subprocess.run([sys.executable, "-m", "onepeak", "compare", *where, *flags], check=True)


def frozen(plan: Experiment) -> Experiment:
    """Returns the plan for features of a frozen backbone: its images, without settings and methods for its layers."""
    methods = tuple(entry for entry in plan.methods if "+rnc" not in entry.name)
    recipe = {name: value for name, value in plan.recipe.items() if name == "resize"}
    return replace(plan, name=plan.name + FROZEN, freeze=True, recipe=recipe, methods=methods)


def train(file: Path, out: Path, root: Path | None, weights: Path | None, freeze: bool, flags: list[str]) -> None:
    """Tries the learning rates on the first split, then trains each method with its own on all splits."""
    plan = read_plan(file)
    if weights is not None:
        plan = replace(plan, weights=str(weights.resolve()))
    if freeze:
        plan = frozen(plan)
    if root is not None:
        list_or_table = root / plan.source.data
        here = replace(plan.source, root=root)
        if list_or_table.is_file():
            here = replace(plan.source, data=list_or_table)
        plan = replace(plan, source=here)
    out.mkdir(parents=True, exist_ok=True)
    (out / PLAN).write_text(toml_text(plan_content(with_rates(plan))), encoding="utf-8")
    compare(out, [*flags, "--splits", "1", "--folds", "1"])
    if "--dry-run" in flags:
        return
    rows = [f"{each.method}{MARK}{each.lr:g}" for each in chosen_rates(lines_of(out)).itertuples()]
    compare(out, [*flags, "--methods", ",".join(rows)])


def keep(folders: list[Path]) -> None:
    """Adds the folders' runs to those kept; a run made again replaces the old one."""
    found = [lines_of(folder) for folder in folders]
    before = [pd.read_csv(RUNS)] if RUNS.exists() else []
    runs = pd.concat([*before, *found]).drop_duplicates(KEY, keep="last").sort_values(KEY)
    RUNS.parent.mkdir(parents=True, exist_ok=True)
    runs.to_csv(RUNS, index=False, lineterminator="\n")
    print(f"{len(runs)} runs in {RUNS}")


def lines_of(folder: Path) -> pd.DataFrame:
    """One line per run of a folder."""
    plan, runs = read_plan(folder / PLAN), read_results(folder / COMPARISON)
    rates = runs["label"].str.rpartition(MARK)
    columns = {"set": plan.name, "method": rates[0], "lr": rates[2].astype(float)}
    sizes = {name: runs[name] for name in ("split", "fold", "num_classes", "num_train", "num_valid", "num_test")}
    figures = {name: runs[f"test_{name}"].round(5) for name in METRICS}
    others = {"best_epoch": runs["best_epoch"], "seconds": runs["seconds"].round(1)}
    return pd.DataFrame(columns | sizes | {"valid_mae": runs["valid_mae"].round(5)} | figures | others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="train one data set's methods; other flags go to onepeak compare")
    training.add_argument("file", type=Path)
    training.add_argument("--out", type=Path, required=True)
    training.add_argument("--root", type=Path, help="the folder of the images or the table")
    training.add_argument("--weights", type=Path, help="the backbone's weights")
    training.add_argument("--freeze", action="store_true", help="train a last layer on features of the backbone")
    keeping = commands.add_parser("keep", help="add finished runs to those kept")
    keeping.add_argument("folders", type=Path, nargs="+")
    page = commands.add_parser("page", help="make the page's tables and figures")
    page.add_argument("--check", action="store_true", help="write nothing; fail if the page does not match")
    given, flags = parser.parse_known_args()
    if flags and given.command != "train":
        parser.error(f"unknown: {' '.join(flags)}")
    match given.command:
        case "train":
            train(given.file, given.out, given.root, given.weights, given.freeze, flags)
        case "keep":
            keep(given.folders)
        case _:
            write_page(check=given.check)


if __name__ == "__main__":
    main()
