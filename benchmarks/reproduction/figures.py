"""The paper's two figures, made again, and ELB's gains against the number of classes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import Tensor

from onepeak.experiment.results import read_history
from onepeak.metrics.functional import side_order_chance, side_order_index
from onepeak.posterior import is_paradoxical, is_unimodal
from onepeak.report.figures.canvas import Printed, legend_below, printed
from onepeak.report.palette import styles
from reproduction.records import FORMS, SETS, num_classes, row
from reproduction.tables import measured_gain, printed_gain

IN_FIGURE_2 = ("ce", "pn", "elb")
PANELS = ("afad-full", "fgnet", "afad-lite", "iciar")
"""The paper's order of panels."""
WINDOW = 30
"""Epochs that a point of the moving average covers, as in the published code's curves."""
EVERY = 10
"""The committed histories keep one epoch in this many, those of figure 2 all."""
GRADE, NUM_GRADES = 4, 8
"""The predicted grade of figure 1, counted from 0, and the number of grades."""
PROBS = (0.34, 0.2, 0.16, 0.11, 0.08, 0.05, 0.04, 0.02)
"""The probabilities of both posteriors of figure 1, in descending order."""
IN_ORDER, OUT_OF_ORDER = "#4c78a8", "#e45756"


def two_posteriors() -> tuple[Tensor, Tensor]:
    """The log-posteriors d1 and d2 of figure 1: the same eight probabilities, the highest at g5 in both.

    In d2 they fall away from g5, the next to the right first. In d1 the second highest is at g1 and the third at g8, as
    in the paper's example of three actions; the others follow from left to right. So cross-entropy is equal, and so
    is every other score that looks at the probability of one grade, or at none in particular (entropy).
    """
    peak, distances = GRADE, range(1, NUM_GRADES)
    around = [grade for step in distances for grade in (peak + step, peak - step) if 0 <= grade < NUM_GRADES]
    first = [0, NUM_GRADES - 1, *(grade for grade in range(1, NUM_GRADES - 1) if grade != peak)]
    d1, d2 = torch.empty(NUM_GRADES), torch.empty(NUM_GRADES)
    d1[[peak, *first]] = d2[[peak, *around]] = torch.tensor(PROBS)
    return d1.log(), d2.log()


def figure_1() -> Printed:
    """Two posteriors with the same prediction and the same cross-entropy, one with one peak and one without."""
    posteriors = two_posteriors()
    label = torch.tensor(GRADE)
    d1, d2 = posteriors
    assert torch.equal(d1[GRADE], d2[GRADE]) and bool(is_paradoxical(d1)) and bool(is_unimodal(d2))  # noqa: PT018
    figure, panels = printed(1, 2, height=2.2)
    for number, (axes, log_probs) in enumerate(zip(panels, posteriors, strict=True), start=1):
        probs = log_probs.exp().tolist()
        towards = [k + (k < GRADE) - (k > GRADE) for k in range(NUM_GRADES)]
        wrong = [k != GRADE and probs[k] >= probs[towards[k]] for k in range(NUM_GRADES)]
        axes.bar(range(NUM_GRADES), probs, color=[OUT_OF_ORDER if each else IN_ORDER for each in wrong])
        loss = -float(log_probs[GRADE])
        order = float(side_order_index(log_probs, label))
        axes.set_title(f"d{number}: cross-entropy {loss:.2f}, SOI {order:.0%}".replace("%", " %"), fontsize=8)
        axes.set_xticks(range(NUM_GRADES), [f"g{grade + 1}" for grade in range(NUM_GRADES)])
        axes.set_ylim(0, 1.15 * PROBS[0])
    panels[0].set_ylabel("probability", fontsize=8)
    return figure


@dataclass(frozen=True, kw_only=True)
class Panel:
    """The courses of CE, PN and ELB in one run each, split 0 and fold 0 of one data set."""

    dataset: str
    form: str
    protocol: str
    histories: Mapping[str, pd.DataFrame]
    """By method; every epoch, or every tenth."""
    epochs: int

    @property
    def whole(self) -> bool:
        """Whether every epoch was kept."""
        return all(len(each) == each["epoch"].max() + 1 for each in self.histories.values())


def panels(sets: Mapping[str, list[pd.DataFrame]]) -> list[Panel]:
    """The best panel of each data set: whole histories before thinned ones, then the longest, then as published.

    Args:
        sets: The collections of runs of each data set.
    """
    found = []
    for name in PANELS:
        candidates = []
        for runs in sets.get(name, []):
            first = runs[(runs["split"] == 0) & (runs["fold"] == 0)]
            for form in FORMS:
                rows = {method: row(first, method, form) for method in IN_FIGURE_2}
                if all(len(each) for each in rows.values()):
                    histories = {method: _history(str(each["folder"].iloc[0])) for method, each in rows.items()}
                    protocol = str(first["protocol"].iloc[0])
                    epochs = int(min(each["epochs"].iloc[0] for each in rows.values()))
                    candidates.append(
                        Panel(dataset=name, form=form, protocol=protocol, histories=histories, epochs=epochs)
                    )
        if candidates:
            found.append(max(candidates, key=lambda panel: (panel.whole, panel.epochs, panel.form == "as_published")))
    return found


def _history(folder: str) -> pd.DataFrame:
    """Every epoch, or every tenth: the best one, which is kept too, would bend the course."""
    history = read_history(folder)
    if len(history) == history["epoch"].max() + 1:
        return history
    return history[history["epoch"] % EVERY == 0]


def smoothed(history: pd.DataFrame, column: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The moving average over 30 epochs, or over those kept of them, from the first full window on."""
    step = int(history["epoch"].diff().median())
    mean = history[column].rolling(max(1, WINDOW // step)).mean()
    known = mean.notna()
    return history.loc[known, "epoch"].to_numpy(dtype=np.int64), mean[known].to_numpy(dtype=np.float64)


def figure_2(drawn: list[Panel]) -> Printed:
    """Validation MAE and SOI over the epochs, one row per data set."""
    figure, axes = printed(len(drawn), 2, height=2.2)
    looks = styles({method: method for method in IN_FIGURE_2})
    for number, panel in enumerate(drawn):
        error, order = axes[2 * number : 2 * number + 2]
        for method, history in panel.histories.items():
            for each, column, scale in ((error, "valid_mae", 1), (order, "valid_soi_predicted", 100)):
                epochs, values = smoothed(history, column)
                each.plot(epochs, scale * values, color=looks[method].colour, linewidth=1.2, label=method.upper())
        chance = 100 * side_order_chance(num_classes(panel.dataset))
        order.axhline(chance, color="black", linewidth=0.6, linestyle=":", label="chance")
        order.set_ylim(top=100.5)
        error.set_title(f"{SETS[panel.dataset]}: validation MAE", fontsize=8)
        order.set_title(f"{SETS[panel.dataset]}: validation SOI, %", fontsize=8)
        for each in (error, order):
            each.set_xlabel("epoch", fontsize=7)
    legend_below(figure, axes[1])
    return figure


def figure_2_caption(drawn: list[Panel]) -> str:
    """What the panels show, and which are missing."""
    parts = []
    for panel in drawn:
        kept = "" if panel.whole else f", of which one in {EVERY} is kept"
        parts.append(f"{SETS[panel.dataset]} {FORMS[panel.form]}, `{panel.protocol}`, {panel.epochs} epochs{kept}")
    missing = [SETS[name] for name in PANELS if name not in {panel.dataset for panel in drawn}]
    lacking = f" Not run yet: {', '.join(missing)}." if missing else ""
    return (
        f"Moving average over {WINDOW} epochs of one run on fold 0 of split 0, as in the paper: {'; '.join(parts)}. "
        f"The learning rate falls to a tenth every 100 epochs.{lacking}"
    )


def gains_figure(sets: Mapping[str, pd.DataFrame]) -> Printed:
    """What ELB gains over CE and PN in order and in error, against the number of classes; hollow: as printed."""
    figure, (order, error) = printed(1, 2, height=2.6)
    looks = styles({method: method for method in IN_FIGURE_2})
    markers = {"as_published": "o", "corrected": "s"}
    for method in ("ce", "pn"):
        colour = looks[method].colour
        for axes, metric in ((order, "soi"), (error, "mae")):
            classes = [num_classes(name) for name in SETS]
            values = [getattr(printed_gain(name, method), metric) for name in SETS]
            name = f"over {method.upper()}, paper"
            axes.plot(classes, values, "o--", color=colour, markerfacecolor="none", linewidth=0.8, label=name)
            for form, marker in markers.items():
                found = {key: measured_gain(runs, method, form) for key, runs in sets.items()}
                points = [(num_classes(key), getattr(each, metric)) for key, each in found.items() if each is not None]
                if points:
                    name = f"over {method.upper()}, {FORMS[form]}"
                    axes.plot(*zip(*points, strict=True), f"{marker}-", color=colour, linewidth=1.2, label=name)
    order.set_title("SOI: points more than the other", fontsize=8)
    error.set_title("MAE: per cent less than the other's", fontsize=8)
    for axes in (order, error):
        axes.set_xlabel("classes", fontsize=7)
        axes.set_xlim(0, 75)
        axes.set_ylim(bottom=0)
    legend_below(figure, order)
    return figure


def write_figures(sets: Mapping[str, pd.DataFrame], drawn: list[Panel], folder: Path) -> None:
    """Writes figure-1.png, figure-2.png and gains.png."""
    figure_1().savefig(folder / "figure-1.png", dpi=130, metadata={"Software": None})
    figure_2(drawn).savefig(folder / "figure-2.png", dpi=130, metadata={"Software": None})
    gains_figure(sets).savefig(folder / "gains.png", dpi=130, metadata={"Software": None})
