"""Predictions whose second most probable label lies far from the first (Belharbi et al. 2019, fig. 1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak.report.figures.canvas import (
    Interactive,
    Looks,
    Printed,
    PrintedAxes,
    class_axis,
    in_print,
    interactive,
    legend_below,
    name_ticks,
    on_page,
    printed,
)

Pixels = npt.NDArray[np.uint8]

_MOST_LETTERS = 26
"""Of a column's name or a value beside a figure for print."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A sample of which one method says something paradoxical, and what the others say of it."""

    row: str
    """The method whose posterior is paradoxical."""
    split: int
    fold: int
    name: str
    """The path of the image, or the number of the item."""
    place: int | None
    """Where the sample lies in the data; None where these are not there."""
    label: int
    """The true label."""
    first: int
    """The label that the method finds most probable, and the one it finds second."""
    second: int
    probs: Mapping[str, npt.NDArray[np.float32]]
    """The posterior of every row that has seen the sample in its test part."""
    predicted: Mapping[str, int]
    truth: npt.NDArray[np.float64] | None = None
    """The true posterior, where it is known."""


def interactive_case(case: Case, classes: Sequence[str], looks: Looks) -> Interactive:
    """For the page: the posteriors of all methods, that of the accused in front."""
    figure = interactive(y="probability", height=230, legend=False)
    figure.update_layout(xaxis=class_axis(classes))
    places = np.arange(len(classes))
    if case.truth is not None:
        figure.add_scatter(
            x=places,
            y=np.exp(case.truth),
            name="true posterior",
            mode="lines",
            fill="tozeroy",
            line={"color": "#9aa0a6", "width": 1},
            fillcolor="rgba(154,160,166,0.25)",
        )
    for row in sorted(case.probs, key=lambda each: each == case.row):
        look, accused = looks[row], row == case.row
        figure.add_scatter(
            x=places,
            y=case.probs[row],
            mode="lines",
            line=on_page(look, 3.5 if accused else 1.3),
            opacity=1.0 if accused else 0.8,
            name=row,
            hovertemplate="%{y:.3f}",
        )
    side = "left" if case.label < len(classes) / 2 else "right"
    figure.add_vline(
        x=case.label,
        line={"dash": "dot", "width": 1.5, "color": "#7a7f87"},
        annotation={"text": "truth", "xanchor": side},
    )
    return figure


def printed_cases(
    cases: Sequence[Case], samples: Sequence[Pixels | Mapping[str, str]], classes: Sequence[str], looks: Looks
) -> Printed:
    """For print: a line for each case, its sample at the left if any of them can be shown."""
    columns = 2 if any(len(sample) for sample in samples) else 1
    figure, panels = printed(len(cases), columns, height=1.7)
    charts = panels[columns - 1 :: columns]
    for case, sample, left, axes in zip(cases, samples, panels[::columns], charts, strict=True):
        if columns == 2:
            left.axis("off")
            _show(left, sample)
        predicted = case.predicted[case.row]
        decided = "" if predicted == case.first else f"\npredicted {classes[predicted]};"
        left.set_title(
            f"{case.row}: {classes[case.first]}, then {classes[case.second]};{decided} true {classes[case.label]}",
            fontsize=7,
        )
        for row in sorted(case.probs, key=lambda each: each == case.row):
            look, accused = looks[row], row == case.row
            axes.plot(case.probs[row], **in_print(look, 2 if accused else 0.8), label=row)
        if case.truth is not None:
            axes.fill_between(
                np.arange(len(classes)), np.exp(case.truth), color="0.85", label="true posterior", zorder=0
            )
        axes.axvline(case.label, color="0.5", linestyle=":", linewidth=0.8)
        axes.set_ylabel("probability", fontsize=7)
    legend_below(figure, charts[0])
    name_ticks(figure, charts, classes)
    return figure


def _show(axes: PrintedAxes, sample: Pixels | Mapping[str, str]) -> None:
    """Draws a image, or writes down a row: names of columns on one side of the middle, values on the other."""
    if isinstance(sample, np.ndarray):
        axes.imshow(sample)
        return
    for lines, place, side in ((sample, 0.48, "right"), (sample.values(), 0.52, "left")):
        text = "\n".join(map(_short, lines))
        axes.text(place, 0.95, text, ha=side, va="top", fontsize=6.5, transform=axes.transAxes, parse_math=False)


def _short(text: str) -> str:
    """What fits into a quarter of a page's width."""
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"
