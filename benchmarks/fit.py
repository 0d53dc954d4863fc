"""Measures `onepeak fit` on four data sets, beside the benchmark's best hand-made configurations of the same budget.

Run: python benchmarks/fit.py run SET --data FOLDER --out D [--weights FILE] [--minutes 10]
Then: python benchmarks/fit.py page [--check]    (the table of results/fit/README.md from runs.csv)

SET is deepdrid, coffee, fgnet or lev; FOLDER holds its images or its table. `fit` has its default method, `--preset
good`, and on images the weights of a backbone, which a CPU keeps frozen. Its test part is the benchmark's first: the
same protocol and seed. Beside it stand the benchmark's runs on that part, all of the same frozen features: the method
and learning rate with the lowest validation error of all, the same for `peak`, and `peak` as `onepeak train` alone
makes it, with the default learning rate.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

from benchmark_page import FROZEN, title_of
from benchmark_page import RUNS as BENCHMARK
from reproduction.text import filled, number, table

HERE = Path(__file__).parents[1]
FOLDER = HERE / "results/fit"
RUNS, PAGE = FOLDER / "runs.csv", FOLDER / "README.md"
FLAGS = {
    "deepdrid": ("labels.csv", "--group", "patient", "--protocol", "holdout"),
    "coffee": ("severity.csv", "--path", "id", "--label", "severity", "--skip-bad", "--protocol", "holdout"),
    "fgnet": ("fgnet", "--protocol", "authors"),
    "lev": ("lev.csv", "--protocol", "holdout"),
}
"""The data below the folder and the flags that the benchmark's experiment file has."""
TABLE_LR, FROZEN_LR = 0.003, 0.01
"""The default learning rates of tables and of frozen features."""


def default_lr(name: str) -> float:
    """The default learning rate of a set of the benchmark."""
    return FROZEN_LR if name.endswith(FROZEN) else TABLE_LR


def run(name: str, data: Path, out: Path, weights: Path | None, minutes: float) -> None:
    """Makes a model within the minutes, and adds its figures to those kept."""
    list_or_name, *flags = FLAGS[name]
    file = data / list_or_name
    source = [str(file), *flags] if file.is_file() else [list_or_name, "--root", str(data), *flags]
    if weights is not None:
        source += ["--backbone", "resnet18", "--weights", str(weights)]
    began = time.monotonic()
    limits = ["--minutes", str(minutes), "--preset", "good", "--device", "cpu", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "onepeak", "fit", *source, *limits], check=True)
    seconds = time.monotonic() - began
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    test, board = result["metrics"]["test"], result["fit"]["board"]
    trained = name if weights is None else name + FROZEN
    line = {
        "set": trained,
        "minutes": minutes,
        "seconds": round(seconds),
        "candidates": len(board),
        "members": result["fit"]["members"],
        "lr": board[0].get("lr", default_lr(trained)),
        **{metric: round(test[metric], 5) for metric in ("mae", "qwk", "rps_calibrated", "soi_predicted", "unimodal")},
        "constant_mae": round(result["constant"]["test_mae"], 5),
    }
    before = [pd.read_csv(RUNS)] if RUNS.exists() else []
    runs = pd.concat([*before, pd.DataFrame([line])]).drop_duplicates("set", keep="last").sort_values("set")
    RUNS.parent.mkdir(parents=True, exist_ok=True)
    runs.to_csv(RUNS, index=False, lineterminator="\n")


def compared(runs: pd.DataFrame, benchmark: pd.DataFrame) -> str:
    """The table of the page: MAE, QWK and calibrated RPS of `fit` and of the benchmark's runs on the same part."""
    lines = []
    for fit in runs.to_dict("records"):
        same = benchmark[(benchmark["set"] == fit["set"]) & (benchmark["split"] == 0) & (benchmark["fold"] == 0)]
        peak = same[same["method"] == "peak"]
        chosen, own = (of.sort_values(["valid_mae", "method", "lr"]).iloc[0] for of in (same, peak))
        alone = peak[peak["lr"] == default_lr(str(fit["set"]))].iloc[0]
        tried = f"{fit['candidates']} trainings tried, {fit['members']} networks, {fit['seconds']} s"
        rows = {
            f"`onepeak fit`, {tried}": fit,
            f"best of {len(same)} by validation: `{chosen['method']}`, {chosen['lr']:g}": chosen,
            f"`peak`, best of {len(peak)} by validation: {own['lr']:g}": own,
            "`peak`, as `onepeak train` alone": alone,
        }
        for title, figures in rows.items():
            errors = [number(figures[name], 3) for name in ("mae", "qwk", "rps_calibrated")]
            lines.append((title_of(fit["set"]), title, *errors, number(100 * figures["unimodal"], 1)))
        lines.append((title_of(fit["set"]), "always the same class", number(fit["constant_mae"], 3), "", "", ""))
    return table(("set", "model", "MAE", "QWK", "calibrated RPS", "one peak, %"), lines)


def page(*, check: bool) -> None:
    """Fills the page; with `check`, only compares."""
    before = PAGE.read_text(encoding="utf-8")
    text = filled(before, {"fit": lambda: compared(pd.read_csv(RUNS), pd.read_csv(BENCHMARK))})
    if check:
        sys.exit("Not what the runs say: run python benchmarks/fit.py page" if text != before else 0)
    PAGE.write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="make one model and keep its figures")
    running.add_argument("name", choices=FLAGS)
    running.add_argument("--data", type=Path, required=True)
    running.add_argument("--out", type=Path, required=True)
    running.add_argument("--weights", type=Path)
    running.add_argument("--minutes", type=float, default=10.0)
    paging = commands.add_parser("page", help="fill the page's table")
    paging.add_argument("--check", action="store_true", help="write nothing; fail if the page does not match")
    given = parser.parse_args()
    if given.command == "run":
        run(given.name, given.data, given.out, given.weights, given.minutes)
    else:
        page(check=given.check)


if __name__ == "__main__":
    main()
