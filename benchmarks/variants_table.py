"""A table of the runs of tried variants: appends one line per run to a file, and prints their means."""

import argparse
import sys
from pathlib import Path

import pandas as pd

from onepeak.cli import main as run_onepeak
from onepeak.experiment.results import read_results

COLUMNS = ["dataset", "label", "split", "fold", "valid_mae", "valid_soi_predicted", "valid_unimodal"]
COLUMNS += ["test_mae", "test_soi_predicted", "test_unimodal"]


def lines_of(folders: list[Path]) -> pd.DataFrame:
    """Returns one line per run."""
    runs = read_results(*folders)
    lines = runs[COLUMNS].assign(
        rps_tempered=runs["test_rps_calibrated"],
        nll_tempered=runs["test_nll_calibrated"],
        temperature=runs["temperature"],
        best_epoch=runs["best_epoch"],
    )
    return lines.round(5)


def write_table(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    lines = lines_of(options.folders)
    if options.out.exists():
        lines = pd.concat([pd.read_csv(options.out), lines])
    keys = ["dataset", "label", "split", "fold"]
    lines = lines.drop_duplicates(keys, keep="last").sort_values(keys)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    lines.to_csv(options.out, index=False, lineterminator="\n")
    means = lines.drop(columns=["split", "fold"]).groupby(["dataset", "label"])
    print(means.mean().assign(runs=means.size()).round(3).to_string())


def main() -> None:
    """Runs `onepeak` with the program's own method, plus the command `table`."""
    if sys.argv[1:2] == ["table"]:
        write_table(sys.argv[2:])
    else:
        run_onepeak()
