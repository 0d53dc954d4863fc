"""The effect of decisions, projection, temperature and intervals on the posteriors of trained runs, as Markdown tables.

Run: python benchmarks/decisions.py FOLDER... [--alpha 0.1]
FOLDER is a run's folder or any folder above runs: every `predictions.parquet` next to a `result.json` is read.
Method: each run is calibrated on its validation part and measured on its test part; figures are means over the runs of
a method. "Raw" posteriors are unchanged, "projected" ones are the nearest with one peak; each kind has its own
temperature and intervals, learnt on the validation part after the same treatment. Decisions are taken after tempering;
"own" is the method's own label.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import numpy as np
import pandas
import torch
from torch import Tensor

from onepeak.errors import InputError
from onepeak.metrics.functional import (
    expected_calibration_error,
    negative_log_likelihood,
    quadratic_weighted_kappa,
    ranked_probability_score,
    side_order_index,
)
from onepeak.posterior import (
    DECISIONS,
    ContiguousSets,
    KappaRule,
    covers,
    fit_temperature,
    is_paradoxical,
    price_of_contiguity,
    project,
    sizes,
    temper,
)

Figures = dict[str, float]
POSTERIORS: dict[str, Callable[[Tensor], Tensor]] = {"raw": lambda log_probs: log_probs, "projected": project}
ASKED = ("mode", "median", "mean")


class Part:
    """The validation or test part of a run."""

    def __init__(self, frame: pandas.DataFrame) -> None:
        self.labels = torch.tensor(frame["label"].tolist())
        self.predicted = torch.tensor(frame["predicted"].tolist())
        self.log_probs = torch.from_numpy(np.stack(frame["log_probs"].to_list()).astype(np.float64)).log_softmax(-1)


def figures_of(valid: Part, test: Part, treat: Callable[[Tensor], Tensor], alpha: float) -> Figures:
    """Returns all figures of one run under one treatment of its posteriors."""
    before, to_learn_from = treat(test.log_probs), treat(valid.log_probs)
    try:
        temperature = fit_temperature(to_learn_from, valid.labels)
    except InputError:  # a true label with zero probability, which some methods produce
        temperature = 1.0
    after = temper(before, temperature)
    found = {"temperature": temperature, "paradoxical %": 100 * share(is_paradoxical(before))}
    labels = {"own": test.predicted, **{name: DECISIONS[name](after) for name in ASKED}}
    labels["qwk"] = kappa_labels(valid, temper(to_learn_from, temperature), after, test.predicted)
    for name, decided in labels.items():
        found[f"MAE, {name}"] = share((decided - test.labels).abs())
        agreed = quadratic_weighted_kappa(decided, test.labels, num_classes=after.shape[-1])
        found[f"QWK, {name}"] = float(agreed)
        found[f"SOI %, {name}"] = 100 * share(side_order_index(after, decided))
    for name, measured in (("before", before), ("after", after)):
        found[f"NLL {name}"] = share(negative_log_likelihood(measured, test.labels))
        found[f"RPS {name}"] = share(ranked_probability_score(measured, test.labels))
        found[f"ECE {name}"] = float(expected_calibration_error(measured, test.labels))
    sets = ContiguousSets(alpha).calibrate(temper(to_learn_from, temperature), valid.labels)
    intervals = sets.predict(after)
    found["coverage %"] = 100 * share(covers(intervals, test.labels))
    # of one run, if its samples were independent: from the choice of the threshold and from the test part
    variance = alpha * (1 - alpha) * (1 / (len(valid.labels) + 2) + 1 / len(test.labels))
    found["+- %"] = 100 * math.sqrt(variance)
    found["shuffled %"] = 100 * coverage_when_shuffled(after, test.labels, alpha)
    found["labels"] = share(sizes(intervals))
    for score in ("length", "rps"):
        other = ContiguousSets(alpha, score=score).calibrate(temper(to_learn_from, temperature), valid.labels)
        found[f"labels, {score}"] = share(sizes(other.predict(after)))
    found["price"] = share(price_of_contiguity(after, intervals))
    return found


def kappa_labels(valid: Part, learn_from: Tensor, ask: Tensor, own: Tensor) -> Tensor:
    """The labels of `--decide qwk`: by the rule if it is better on the validation part, otherwise the method's own."""
    rule = KappaRule.learn(learn_from)
    before, now = (
        quadratic_weighted_kappa(labels, valid.labels, num_classes=ask.shape[-1])
        for labels in (valid.predicted, rule(learn_from))
    )
    return rule(ask) if now > before else own


def coverage_when_shuffled(log_probs: Tensor, labels: Tensor, alpha: float, rounds: int = 50) -> float:
    """Splits the test part at random: the coverage when calibration and test samples are alike."""
    generator = torch.Generator().manual_seed(0)
    covered = []
    for _ in range(rounds):
        learn, ask = torch.randperm(len(labels), generator=generator).tensor_split(2)
        sets = ContiguousSets(alpha).calibrate(log_probs[learn], labels[learn])
        covered.append(share(covers(sets.predict(log_probs[ask]), labels[ask])))
    return mean(covered)


def share(values: Tensor) -> float:
    return float(values.double().mean())


def runs_below(folders: list[Path], alpha: float) -> dict[str, dict[str, list[Figures]]]:
    """Returns the figures of every run, by method and treatment."""
    found: dict[str, dict[str, list[Figures]]] = {}
    paths = sorted({path for folder in folders for path in folder.rglob("predictions.parquet")})
    for number, path in enumerate(paths, 1):
        if not (path.parent / "result.json").exists():  # an unfinished run
            continue
        print(f"{number}/{len(paths)} {path.parent}", file=sys.stderr)
        record = json.loads((path.parent / "result.json").read_text())
        name = record.get("label", record["method"])
        frame = pandas.read_parquet(path)
        valid, test = (Part(frame[frame["part"] == part]) for part in ("valid", "test"))
        for posterior, treat in POSTERIORS.items():
            figures = figures_of(valid, test, treat, alpha)
            found.setdefault(name, {}).setdefault(posterior, []).append(figures)
    return found


def print_table(columns: list[str], found: dict[str, dict[str, list[Figures]]], *, over_runs: bool = False) -> None:
    """Prints one row per method and treatment; the error of a mean over runs is divided by the root of their number."""
    print("| method | posterior | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 2) + "|")
    for method, treatments in found.items():
        for posterior, runs in treatments.items():
            cells = []
            for column in columns:
                value = mean(run[column] for run in runs)
                if over_runs and column.startswith("+-"):
                    value /= math.sqrt(len(runs))
                cells.append(f"{value:.1f}" if "%" in column else f"{value:.3f}")
            print(f"| {method} | {posterior} | " + " | ".join(cells) + " |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--alpha", type=float, default=0.1)
    arguments = parser.parse_args()
    found = runs_below(arguments.folders, arguments.alpha)
    if not found:
        sys.exit("No finished run (predictions.parquet and result.json) lies below " + ", ".join(sys.argv[1:]) + ".")
    counts = ", ".join(f"{method} {len(treatments['raw'])}" for method, treatments in found.items())
    print(f"torch {torch.__version__}; runs: {counts}\n")
    names = ("own", *ASKED, "qwk")
    print("Error by decision: test MAE after tempering\n")
    print_table([f"MAE, {name}" for name in names], found)
    print("Agreement by decision: test QWK after tempering\n")
    print_table([f"QWK, {name}" for name in names], found)
    print("Order by decision: side order index to the label decided on, in per cent\n")
    print_table([f"SOI %, {name}" for name in names], found)
    print("Calibration: the temperature fitted on the validation part, and the test part before and after it\n")
    scores = [f"{score} {when}" for score in ("NLL", "RPS", "ECE") for when in ("before", "after")]
    print_table(["temperature", *scores, "paradoxical %"], found)
    print(f"Intervals: contiguous conformal sets at alpha {arguments.alpha:g}")
    print(
        "coverage: share of true labels inside; +-: its standard error if samples were independent; shuffled: coverage"
    )
    print("with the test part alone, halved at random; labels: in a set, also by two other scores; price: how many")
    print("a set with gaps could spare\n")
    print_table(
        ["coverage %", "+- %", "shuffled %", "labels", "labels, length", "labels, rps", "price"], found, over_runs=True
    )


if __name__ == "__main__":
    main()
