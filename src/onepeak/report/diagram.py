"""The critical-difference diagram: mean ranks on a line, a bar over methods that are not told apart (Demsar 2006)."""

from pathlib import Path
from typing import TYPE_CHECKING

from onepeak._extras import require
from onepeak.experiment.ranks import RankComparison
from onepeak.report.figures.canvas import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABEL_STEP = 0.32
"""Inches between two names on the same side."""
_BAR_STEP = 0.14
_MOST_NUMBERED = 20
"""Ranks that have room for a number each; of more every fifth has one."""


def critical_difference_diagram(comparison: RankComparison, *, title: str = "") -> "Figure":
    """Draws the diagram: rank 1, the best, on the left.

    Args:
        comparison: The mean ranks.
        title: What was ranked.
    """
    figure_module = require("matplotlib.figure", extra="report", purpose="A diagram")
    num_methods, groups = len(comparison.methods), comparison.groups
    num_left = (num_methods + 1) // 2
    above, bars = 0.75, 0.2 + _BAR_STEP * len(groups)
    height = above + bars + _LABEL_STEP * num_left + 0.15
    figure = figure_module.Figure(figsize=(7.0, height))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    # one unit is one inch downwards from the line of ranks; across, one unit is one rank
    margin = (num_methods - 1) * 0.42
    axes.set_xlim(1 - margin, num_methods + margin)
    axes.set_ylim(height - above, -above)
    axes.axis("off")

    axes.plot([1, num_methods], [0, 0], color="black", linewidth=1)
    step = 1 if num_methods <= _MOST_NUMBERED else 5
    for whole in range(1, num_methods + 1):
        axes.plot([whole, whole], [-0.07, 0], color="black", linewidth=1)
        if whole == 1 or whole % step == 0:
            axes.text(whole, -0.1, str(whole), ha="center", va="bottom", fontsize=9)
    for place, (name, rank) in enumerate(zip(comparison.methods, comparison.mean_ranks, strict=True)):
        left = place < num_left
        depth = bars + _LABEL_STEP * (place if left else num_methods - 1 - place) + 0.1
        end = 1 - 0.05 * margin if left else num_methods + 0.05 * margin
        axes.plot([rank, rank, end], [0, depth, depth], color="black", linewidth=0.8)
        text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
        side = -0.02 if left else 0.02
        axes.text(end + side * margin, depth, text, ha="right" if left else "left", va="center", fontsize=10)
    ranks = dict(zip(comparison.methods, comparison.mean_ranks, strict=True))
    for place, group in enumerate(groups):
        depth = 0.12 + _BAR_STEP * place
        ends = [ranks[group[0]] - 0.04, ranks[group[-1]] + 0.04]
        axes.plot(ends, [depth, depth], color="black", linewidth=3.5, solid_capstyle="round")

    note = f"critical difference {comparison.critical_difference:.2f}, {comparison.num_datasets} data sets"
    axes.text(0.02, 0.99, title, transform=axes.transAxes, ha="left", va="top", fontsize=10, weight="bold")
    axes.text(0.98, 0.99, note, transform=axes.transAxes, ha="right", va="top", fontsize=9)
    drawn: Figure = figure
    return drawn


def write_diagram(comparison: RankComparison, path: Path, *, title: str = "") -> tuple[Path, Path]:
    """Writes the diagram as PNG and PDF; the same ranks give the same bytes.

    Args:
        comparison: The mean ranks.
        path: Where to, without a suffix.
        title: What was ranked.
    """
    return save(critical_difference_diagram(comparison, title=title), path, tight=True)
