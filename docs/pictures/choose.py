"""Makes choose.svg: which method to take, as a diagram of questions.

Run it from anywhere: `python docs/pictures/choose.py`. The reasons are on the page "Which method should I choose".
"""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from svg import INK, save

QUESTIONS = (
    ("Can you train the model again?", "no", "posterior.project"),
    ("May opinions have two peaks (1 or 5 stars)?", "yes", "clm or corn, by the median"),
    ("Must one peak be guaranteed?", "yes", "gaussian, unimodal-net, copoc"),
    ("Is it a small, nearly linear table?", "yes", "OrdinalClassifier, hidden=()"),
    ("100 classes or more, and few steps?", "yes", "smooth-slopes"),
    ("Must your own loss stay?", "yes", "UnimodalLoss(base=...)"),
)
TAKE = "peak"
BLUE, ORANGE = "#4c8bc4", "#e8694a"


def box(axes: Axes, x: float, y: float, text: str, colour: str, *, bold: bool = False) -> None:
    """A text with a frame around it."""
    frame = {"boxstyle": "round,pad=0.5", "facecolor": "none", "edgecolor": colour, "linewidth": 1.6}
    weight = "bold" if bold else "normal"
    axes.text(x, y, text, ha="center", va="center", fontsize=10.5, color=INK, bbox=frame, weight=weight)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], word: str) -> None:
    """From one box to the next, with the reply beside it."""
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 1.2})
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    across = start[1] == end[1]
    axes.text(
        x + (0 if across else 0.09),
        y + (0.13 if across else 0),
        word,
        fontsize=9.5,
        color=INK,
        ha="center",
        va="center",
    )


def main() -> None:
    """Draws the questions downwards, what to take to the right of each."""
    figure = Figure(figsize=(8, 0.8 * (len(QUESTIONS) + 1)), layout="constrained")
    axes = figure.subplots()
    axes.axis("off")
    axes.set_xlim(0, 4.4)
    axes.set_ylim(-len(QUESTIONS) - 0.4, 0.4)
    for place, (question, reply, method) in enumerate(QUESTIONS):
        box(axes, 1.15, -place, question, BLUE)
        box(axes, 3.55, -place, method, ORANGE)
        arrow(axes, (2.3, -place), (2.65, -place), reply)
        arrow(axes, (1.15, -place - 0.27), (1.15, -place - 0.73), "yes" if reply == "no" else "no")
    box(axes, 1.15, -len(QUESTIONS), TAKE, ORANGE, bold=True)
    save(figure, Path(__file__).with_suffix(".svg"))


if __name__ == "__main__":
    main()
