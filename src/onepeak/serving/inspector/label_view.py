"""The posteriors that share one predicted label, drawn together: do they all fall away from it?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from onepeak.posterior import is_unimodal
from onepeak.serving.inspector.one_sample import rounded
from onepeak.serving.inspector.said import Said

MOST_NUMBERS = 60_000
"""Probabilities sent for one label, over all rows: as many as a browser draws without a delay."""


@dataclass(frozen=True, kw_only=True)
class RowPosteriors:
    """The posteriors of one row that predict the label."""

    row: str
    count: int
    unimodal: float | None
    """The share of all of them that have one peak; None if there are none."""
    mean: list[float]
    shown: tuple[list[float], ...]
    """As many as can be drawn, evenly spaced."""


@dataclass(frozen=True, kw_only=True)
class LabelView:
    """One label over all rows."""

    label: int
    rows: tuple[RowPosteriors, ...]
    highest: float
    """The largest probability shown, so that all rows share one scale."""


def label_view(
    said: Mapping[str, Sequence[Said]], label: int, *, num_classes: int, most_numbers: int = MOST_NUMBERS
) -> LabelView:
    """Collects the posteriors with one predicted label.

    Args:
        said: The predictions of each row's runs.
        label: The predicted label.
        num_classes: The number of classes.
        most_numbers: The most probabilities to show.
    """
    most = max(1, most_numbers // max(1, len(said) * num_classes))
    rows = tuple(_row(row, runs, label, num_classes, most) for row, runs in said.items())
    return LabelView(
        label=label, rows=rows, highest=max((max(map(max, row.shown)) for row in rows if row.shown), default=1.0)
    )


def _row(row: str, runs: Sequence[Said], label: int, num_classes: int, most: int) -> RowPosteriors:
    own = [each.log_probs[each.predicted == label] for each in runs if len(each.item)]
    log_probs = np.concatenate([np.empty((0, num_classes), dtype=np.float32), *own])
    if not len(log_probs):
        return RowPosteriors(row=row, count=0, unimodal=None, mean=[], shown=())
    probs = np.exp(log_probs)
    places = np.unique(np.linspace(0, len(probs) - 1, min(most, len(probs))).round().astype(np.int64))
    return RowPosteriors(
        row=row,
        count=len(probs),
        unimodal=float(is_unimodal(torch.from_numpy(log_probs)).double().mean()),
        mean=rounded(probs.mean(axis=0)),
        shown=tuple(rounded(probs[place]) for place in places),
    )
