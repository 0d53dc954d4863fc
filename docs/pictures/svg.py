"""How figures of the documentation are written: as SVG without a ground, readable on a light and on a dark page."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK = "#2b3138"
"""Of text and lines; a dark page shows it light."""
_DARK = f"""<style>
@media (prefers-color-scheme: dark) {{
  [style*="fill: {INK}"] {{ fill: #d5dae0 !important }} [style*="stroke: {INK}"] {{ stroke: #d5dae0 !important }}
}}
</style>
"""


def plain(axes: Axes) -> None:
    """Little ink: no frame, small ticks."""
    axes.tick_params(labelsize=8, colors=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)


def save(figure: Figure, path: Path) -> None:
    """Writes the figure; the same figure gives the same bytes."""
    with mpl.rc_context({"svg.hashsalt": "onepeak", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = path.read_text(encoding="utf-8")
    head, tag, rest = text.partition("<defs>")
    path.write_text(head + _DARK + tag + rest, encoding="utf-8")
