"""How the validation error and order move over the epochs (Belharbi et al. 2019, fig. 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak._core.imports import require
from onepeak.report.figures.canvas import (
    Interactive,
    Looks,
    Printed,
    in_print,
    interactive,
    legend_below,
    on_page,
    printed,
)
from onepeak.report.palette import faint

Values = npt.NDArray[np.float64]

FEW_EPOCHS = 15
"""Up to so many epochs each is named on the axis."""
MOST_POINTS = 400
"""Epochs that are drawn; of more, every second, third, ... one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """One metric of one row over the epochs, smoothed: the mean over runs and the spread around it."""

    epochs: npt.NDArray[np.int64]
    mean: Values
    low: Values
    """One standard deviation below the mean."""
    high: Values


def smoothing_window(num_epochs: int) -> int:
    """Over how many epochs the moving average goes: a twentieth of them all, an odd number so that it has a middle.

    Example:
        >>> smoothing_window(15), smoothing_window(60), smoothing_window(1000)
        (1, 3, 51)
    """
    return num_epochs // 20 // 2 * 2 + 1


def at_every_epoch(epochs: npt.NDArray[np.int64], values: Values) -> Values:
    """One value per epoch, from 0 to the last one kept; between two that were kept the course is a straight line.

    Example:
        >>> at_every_epoch(np.array([0, 2, 5]), np.array([4.0, 2.0, 5.0]))
        array([4., 3., 2., 3., 4., 5.])
    """
    course: Values = np.interp(np.arange(epochs[-1] + 1), epochs, values)
    return course


def curve(runs: Sequence[Values]) -> Curve:
    """Averages the runs of a row, up to the last epoch that half of them reach: a mean over few would jump.

    The mean and the deviation are moving averages; at the ends of the few epochs there are.
    """
    pandas = require("pandas", extra="data", purpose="A curve")
    longest = sorted(len(run) for run in runs)[len(runs) // 2]
    table = pandas.DataFrame({number: pandas.Series(run[:longest]) for number, run in enumerate(runs)})
    both = pandas.DataFrame({"mean": table.mean(axis=1), "std": table.std(axis=1).fillna(0.0)})
    smooth = both.rolling(smoothing_window(longest), center=True, min_periods=1).mean()
    mean, spread = smooth["mean"].to_numpy(), smooth["std"].to_numpy()
    chosen = np.arange(0, longest, -(-longest // MOST_POINTS))
    return Curve(epochs=chosen + 1, mean=mean[chosen], low=(mean - spread)[chosen], high=(mean + spread)[chosen])


def interactive_curves(
    curves: Mapping[str, Curve], looks: Looks, *, title: str, percent: bool = False, chance: float | None = None
) -> Interactive:
    """For the page: one metric of all rows."""
    figure = interactive(x="epoch", y=title)
    for row, each in curves.items():
        look = looks[row]
        both = {"legendgroup": row, "name": row}
        figure.add_scatter(
            x=np.concatenate([each.epochs, each.epochs[::-1]]),
            y=np.concatenate([each.high, each.low[::-1]]).astype(np.float32),
            mode="lines",
            fill="toself",
            fillcolor=faint(look.colour, 0.15),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
            **both,
        )
        figure.add_scatter(
            x=each.epochs,
            y=each.mean.astype(np.float32),
            mode="lines" if len(each.epochs) > 1 else "markers",
            line=on_page(look, 2),
            hovertemplate=f"epoch %{{x}}: %{{y:{'.1%' if percent else '.3f'}}}",
            **both,
        )
    if percent:
        figure.update_layout(yaxis={"tickformat": ".0%"})
    if max((int(each.epochs[-1]) for each in curves.values()), default=0) <= FEW_EPOCHS:
        figure.update_layout(xaxis={"dtick": 1})  # there is no epoch 1.5
    if chance is not None:
        figure.add_hline(y=chance, line={"dash": "dash", "width": 1, "color": "#7a7f87"}, annotation={"text": "chance"})
    return figure


def printed_curves(
    mae: Mapping[str, Curve], soi: Mapping[str, Curve], looks: Looks, *, chance: float | None = None
) -> Printed:
    """For print: error and order beside each other."""
    figure, panels = printed(1, 2, height=2.8, x="epoch")
    for axes, curves, scale, title in zip(
        panels, (mae, soi), (1, 100), ("validation MAE", "validation SOI (%)"), strict=True
    ):
        for row, each in curves.items():
            look = looks[row]
            axes.fill_between(
                each.epochs, scale * each.low, scale * each.high, color=look.colour, alpha=0.12, linewidth=0
            )
            axes.plot(
                each.epochs,
                scale * each.mean,
                **in_print(look, 1.2),
                marker="o" if len(each.epochs) == 1 else "",
                markersize=3,
                label=row,
            )
        if max((int(each.epochs[-1]) for each in curves.values()), default=1) == 1:
            axes.set_xticks([1])
        else:
            axes.locator_params(axis="x", integer=True)  # there is no epoch 1.5
        axes.set_ylabel(title, fontsize=8)
    if chance is not None:
        panels[1].axhline(100 * chance, color="0.6", linewidth=0.7, linestyle="--")
        beside = panels[1].get_yaxis_transform()
        panels[1].text(0.99, 100 * chance, "chance", color="0.5", fontsize=6, ha="right", va="bottom", transform=beside)
    legend_below(figure, panels[0])
    return figure
