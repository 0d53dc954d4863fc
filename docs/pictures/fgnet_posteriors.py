"""Makes fgnet_posteriors.png: one person's age as two networks see it, trained with cross-entropy and with ELB.

Run it from anywhere: `python docs/pictures/fgnet_posteriors.py`. The posteriors are those of the test part of the first
split in results/fgnet, each with the temperature fitted on its validation part. The sample is the one with the median
side order index under cross-entropy, of those that both networks date within three years.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "results" / "fgnet" / "runs"
IN_ORDER, OUT_OF_ORDER, INK = "#4c78a8", "#e45756", "#333333"
CLOSE = 3


def test_part(method: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The test samples of a run in their order, and their calibrated posteriors."""
    run = RUNS / method / "split0-fold0"
    frame = pd.read_parquet(run / "predictions.parquet").query("part == 'test'").sort_values("item")
    temperature = json.loads((run / "result.json").read_text())["calibration"]["temperature"]
    log_probs = np.stack(frame["log_probs"].to_list()).astype(float) / temperature
    probs = np.exp(log_probs - log_probs.max(axis=1, keepdims=True))
    return frame.reset_index(drop=True), probs / probs.sum(axis=1, keepdims=True)


def pairs_in_order(probs: np.ndarray, label: int) -> np.ndarray:
    """Whether each pair of adjacent ages falls away from a label."""
    rises = np.diff(probs)
    return np.where(np.arange(len(rises)) < label, rises > 0, rises < 0)


def draw(axes: Axes, probs: np.ndarray, label: int, truth: int, title: str) -> None:
    """Bars of a posterior, those out of order in another colour."""
    in_order = pairs_in_order(probs, label)
    # A bar is out of order if the pair on its side away from the label is.
    ages = np.arange(len(probs))
    wrong = np.zeros(len(probs), bool)
    wrong[:label] = ~in_order[:label]
    wrong[label + 1 :] = ~in_order[label:]
    axes.bar(ages, probs, width=0.85, color=np.where(wrong, OUT_OF_ORDER, IN_ORDER))
    axes.plot(truth, -0.035 * probs.max(), marker="^", color=INK, clip_on=False, markersize=6)
    axes.set_title(f"{title}: {in_order.mean():.0%} of pairs in order", fontsize=11, color=INK)
    axes.set_xlabel(f"age (true: {truth}, predicted: {label})")
    axes.set_xlim(-1, len(probs))
    axes.set_yticks([])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def main() -> None:
    """Chooses the sample and draws it twice."""
    (frame, ce), (other, elb) = test_part("ce"), test_part("elb")
    assert (frame["item"] == other["item"]).all()
    truth, said = frame["label"].to_numpy(), np.stack([frame["predicted"], other["predicted"]])
    both_close = (np.abs(said - truth) <= CLOSE).all(axis=0)
    order = np.array([pairs_in_order(row, label).mean() for row, label in zip(ce, said[0], strict=True)])
    candidates = np.flatnonzero(both_close)
    chosen = candidates[np.argsort(order[candidates], kind="stable")[len(candidates) // 2]]
    figure = Figure(figsize=(9, 2.7), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw(left, ce[chosen], said[0, chosen], truth[chosen], "cross-entropy")
    draw(right, elb[chosen], said[1, chosen], truth[chosen], "cross-entropy and ELB")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
