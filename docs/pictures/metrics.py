"""Makes the images of the page on metrics: metrics_order.svg, metrics_distance.svg, metrics_interval.svg.

Run it from anywhere: `python docs/pictures/metrics.py`.
"""

from pathlib import Path

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from svg import INK, plain, save

from onepeak.metrics.functional import earth_mover_distance, ranked_probability_score, side_order_index
from onepeak.posterior import is_paradoxical

IN_ORDER, OUT_OF_ORDER, PALE = "#4c8bc4", "#e8694a", "#9db7d266"
HERE = Path(__file__).parent


def main() -> None:
    """Draws all images beside this file."""
    save(order(), HERE / "metrics_order.svg")
    save(distance(), HERE / "metrics_distance.svg")
    save(interval(), HERE / "metrics_interval.svg")


def order() -> Figure:
    """Three posteriors with the same label and the same probability of it, in order to different degrees."""
    shown = {
        "one peak": [0.05, 0.15, 0.4, 0.22, 0.12, 0.06],
        "one pair out of order": [0.05, 0.2, 0.4, 0.12, 0.17, 0.06],
        "a paradox": [0.28, 0.05, 0.4, 0.02, 0.05, 0.2],
    }
    figure = Figure(figsize=(8, 2.4), layout="constrained")
    for axes, (title, probs) in zip(figure.subplots(1, 3, sharey=True), shown.items(), strict=True):
        log_probs = torch.tensor(probs).log()
        peak = int(log_probs.argmax())
        towards = [k + (k < peak) - (k > peak) for k in range(6)]
        wrong = [k != peak and probs[k] >= probs[towards[k]] for k in range(6)]
        axes.bar(range(6), probs, color=[OUT_OF_ORDER if each else IN_ORDER for each in wrong])
        soi = side_order_index(log_probs, torch.tensor(peak)).item()
        odd = ", paradoxical" if is_paradoxical(log_probs) else ""
        titled(axes, f"{title}: SOI {soi:.2f}{odd}")
    return figure


def distance() -> Figure:
    """The same probability of the truth, near and far mistakes: cumulative posteriors against the step."""
    near, far = [0.0, 0.2, 0.5, 0.3, 0.0, 0.0], [0.2, 0.0, 0.5, 0.0, 0.0, 0.3]
    figure = Figure(figsize=(8, 2.4), layout="constrained")
    for axes, probs in zip(figure.subplots(1, 2, sharey=True), (near, far), strict=True):
        log_probs, label = torch.tensor(probs).clamp(min=1e-9).log().log_softmax(-1), torch.tensor(2)
        below, step = torch.tensor(probs).cumsum(-1), (torch.arange(6) >= 2).float()
        axes.step(range(6), step.tolist(), where="post", color=INK, linewidth=1)
        axes.step(range(6), below.tolist(), where="post", color=IN_ORDER)
        axes.fill_between(range(6), step.tolist(), below.tolist(), step="post", color=PALE)
        score, moved = ranked_probability_score(log_probs, label), earth_mover_distance(log_probs, label)
        titled(axes, f"RPS {score:.2f}, earth mover's distance {moved:.2f}; NLL is the same")
    return figure


def interval() -> Figure:
    """A contiguous set: the fewest neighbouring labels that hold nine tenths."""
    probs = torch.tensor([0.01, 0.03, 0.08, 0.17, 0.27, 0.22, 0.12, 0.06, 0.03, 0.01])
    figure = Figure(figsize=(8, 2.2), layout="constrained")
    axes = figure.subplots()
    inside = range(2, 8)
    axes.bar(range(10), probs.tolist(), color=[IN_ORDER if k in inside else PALE for k in range(10)])
    titled(axes, f"labels 2 to 7 hold {probs[2:8].sum():.0%}")
    return figure


def titled(axes: Axes, title: str) -> None:
    """Little ink."""
    axes.set_title(title, fontsize=9, color=INK)
    plain(axes)


if __name__ == "__main__":
    main()
