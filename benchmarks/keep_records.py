"""Copies the small files of a comparison, to be committed with the code.

Run: python benchmarks/keep_records.py FOLDER TARGET [--every 10] [--whole ce pn elb] [--predictions 0]
Keeps every `result.json`, one in `--every` epochs of the history (plus the best and the last one; every epoch of the
rows named after `--whole`, on fold 0 of split 0), the predictions of the named splits, and the configuration.
`onepeak report TARGET` reads the copy, and `onepeak compare` treats runs copied into its folder as finished.
"""

import argparse
import json
import re
import shutil
from pathlib import Path

import pandas as pd


def keep_run(run: Path, target: Path, *, every: int, whole: list[str], predictions: list[int]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(run / "result.json", target)
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    history = pd.read_csv(run / "history.csv", dtype=str)  # as text, so that nothing is rounded
    epochs = history["epoch"].astype(int)
    if run.parent.name in whole and result["split"] == result["fold"] == 0:
        every = 1
    kept = (epochs % every == 0) | (epochs == result["best_epoch"]) | (epochs == epochs.max())
    history[kept].to_csv(target / "history.csv", index=False, lineterminator="\n")
    if result["split"] in predictions and (run / "predictions.parquet").exists():
        shutil.copy(run / "predictions.parquet", target)


def without_folders(commands: str) -> str:
    """Replaces absolute paths, which hold for one machine only, by their last part."""
    return re.sub(r"(?<=[ =])/(?:[^/\s\"]+/)+(?=[^/\s\"])", "", commands)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--whole", nargs="*", default=[])
    parser.add_argument("--predictions", type=int, nargs="*", default=[0])
    options = parser.parse_args()
    runs = sorted(path.parent for path in options.folder.glob("runs/*/*/result.json"))
    for run in runs:
        target = options.target / run.relative_to(options.folder)
        keep_run(run, target, every=options.every, whole=options.whole, predictions=options.predictions)
    lines = (options.folder / "config.toml").read_text(encoding="utf-8").splitlines(keepends=True)
    tables = next(number for number, line in enumerate(lines) if line.startswith("["))
    places = [line for line in lines[:tables] if line.startswith(("root = ", "weights = "))]  # on that machine
    kept = [without_folders(line) if line.startswith("commands = ") else line for line in lines if line not in places]
    (options.target / "config.toml").write_text("".join(kept), encoding="utf-8")
    print(f"{len(runs)} runs in {options.target}")


if __name__ == "__main__":
    main()
