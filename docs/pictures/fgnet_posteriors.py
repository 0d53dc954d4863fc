"""Makes fgnet_posteriors.svg: a child's age as two networks see it, trained with cross-entropy and with `peak`.

Run it from anywhere: `python docs/pictures/fgnet_posteriors.py`. The posteriors are those of the test part of the first
split in results/fgnet-beyond, as trained. The sample is the one to which cross-entropy gives most probability twice, in
two windows of seven years whose middles are at least twelve years apart, of those that `peak` dates within three years.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from svg import INK, save

RUNS = Path(__file__).parents[2] / "results" / "fgnet-beyond" / "runs"
IN_ORDER, OUT_OF_ORDER = "#4c8bc4", "#e8694a"
CLOSE, WINDOW, APART = 3, 7, 12
"""In years."""


def test_part(method: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The test samples of a run in their order, and their posteriors."""
    frame = pd.read_parquet(RUNS / method / "split0-fold0" / "predictions.parquet")
    frame = frame.query("part == 'test'").sort_values("item").reset_index(drop=True)
    return frame, np.exp(np.stack(frame["log_probs"].to_list()).astype(float))


def in_both_windows(probs: np.ndarray) -> float:
    """The probability in the second of two windows that lie apart, where it is highest."""
    held = np.convolve(probs, np.ones(WINDOW), "same")
    return max(min(held[k], held[k + APART :].max()) for k in range(len(held) - APART))


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
    close = np.abs(peak.argmax(axis=1) - truth) <= CLOSE
    chosen = int(np.where(close, [in_both_windows(probs) for probs in ce], 0).argmax())
    first, second = sorted(np.argsort(ce[chosen])[-2:])
    figure = Figure(figsize=(9, 2.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw(left, ce[chosen], truth[chosen], f"cross-entropy: {first} years, or {second}?")
    draw(right, peak[chosen], truth[chosen], f"peak: about {peak[chosen].argmax()} years")
    save(figure, Path(__file__).with_suffix(".svg"))


if __name__ == "__main__":
    main()
