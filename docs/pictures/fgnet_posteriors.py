"""Makes fgnet_posteriors.svg: a child's age as two networks see it, trained with cross-entropy and with `peak`.

Run it from anywhere: `python docs/pictures/fgnet_posteriors.py`. The posteriors are those of the test part of the first
split in results/fgnet-beyond, each with the temperature fitted on its validation part. The sample is the one whose two
peaks under cross-entropy lie farthest apart, the lower at least half as high, of those that `peak` dates within three
years.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from svg import INK, save

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "results" / "fgnet-beyond" / "runs"
IN_ORDER, OUT_OF_ORDER = "#4c8bc4", "#e8694a"
CLOSE = 3


def test_part(method: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The test samples of a run in their order, and their calibrated posteriors."""
    run = RUNS / method / "split0-fold0"
    frame = pd.read_parquet(run / "predictions.parquet").query("part == 'test'").sort_values("item")
    temperature = json.loads((run / "result.json").read_text())["calibration"]["temperature"]
    log_probs = np.stack(frame["log_probs"].to_list()).astype(float) / temperature
    probs = np.exp(log_probs - log_probs.max(axis=1, keepdims=True))
    return frame.reset_index(drop=True), probs / probs.sum(axis=1, keepdims=True)


def peaks(probs: np.ndarray) -> tuple[int, int]:
    """The highest peak, and of those at least half as high the one farthest from it."""
    padded = np.concatenate([[0], probs, [0]])
    tops = np.flatnonzero((padded[1:-1] > padded[:-2]) & (padded[1:-1] > padded[2:]) & (probs >= probs.max() / 2))
    first = int(probs.argmax())
    return first, int(tops[np.abs(tops - first).argmax()])


def draw(axes: Axes, probs: np.ndarray, truth: int, title: str) -> None:
    """Bars of a posterior, those farther from the prediction than a less probable neighbour in another colour."""
    label, ages = int(probs.argmax()), np.arange(len(probs))
    rises = np.diff(probs)
    wrong = np.zeros(len(probs), bool)
    wrong[:label] = rises[:label] <= 0
    wrong[label + 1 :] = rises[label:] >= 0
    axes.bar(ages, probs, width=0.8, color=np.where(wrong, OUT_OF_ORDER, IN_ORDER))
    axes.plot(truth, -0.05 * probs.max(), marker="^", color=INK, clip_on=False, markersize=7)
    axes.set_title(title, fontsize=12, color=INK)
    axes.set_xlabel("age in years", color=INK)
    axes.set_xlim(-1, len(probs))
    axes.set_yticks([])
    axes.tick_params(colors=INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(INK)


def main() -> None:
    """Chooses the sample and draws it twice."""
    (frame, ce), (other, peak) = test_part("ce-slow"), test_part("smooth-rps+elb-mode-t3-slow")
    assert (frame["item"] == other["item"]).all()
    truth = frame["label"].to_numpy()
    far = np.array([abs(first - second) for first, second in map(peaks, ce)])
    chosen = int(np.where(np.abs(peak.argmax(axis=1) - truth) <= CLOSE, far, 0).argmax())
    first, second = sorted(peaks(ce[chosen]))
    figure = Figure(figsize=(9, 2.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw(left, ce[chosen], truth[chosen], f"cross-entropy: {first} years, or {second}?")
    draw(right, peak[chosen], truth[chosen], f"peak: about {peak[chosen].argmax()} years")
    save(figure, Path(__file__).with_suffix(".svg"))


if __name__ == "__main__":
    main()
