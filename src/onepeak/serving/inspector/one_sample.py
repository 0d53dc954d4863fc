"""One method's prediction for one sample: the posterior, what follows from it, and where it is out of order."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from onepeak.constraints.gaps import signed_gaps
from onepeak.metrics.functional.order import side_order_index
from onepeak.posterior import is_paradoxical, is_unimodal, median, mode, project, temper
from onepeak.training.calibration import ALPHA, Calibration

DIGITS = 5
"""Decimals of a probability that is sent to a page."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """Two adjacent classes of which the one farther from the prediction is not less probable."""

    inner: int
    outer: int
    tie: bool


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Everything about one posterior. Classes are counted from 0."""

    probs: list[float]
    raw: bool
    """Whether `predict` would show other, calibrated probabilities."""
    projected: list[float]
    """The nearest posterior with one peak."""
    predicted: int
    mode: int
    median: int
    interval: tuple[int, int] | None
    """Contains the true class for a share of 1 - alpha of all samples; None if the model was not calibrated."""
    soi: float
    unimodal: bool
    paradoxical: bool
    violations: tuple[Violation, ...]
    ranking: list[int]
    """The three most probable classes, most probable first."""


def answer(
    log_probs: npt.NDArray[np.float32], predicted: int, calibration: Calibration | None, *, calibrated: bool = False
) -> Answer:
    """Analyses one posterior.

    Args:
        log_probs: One per class.
        predicted: The method's own label.
        calibration: The model's calibration.
        calibrated: Whether the posterior is calibrated already.

    Example:
        >>> said = answer(np.log(np.array([0.5, 0.1, 0.1, 0.3], dtype=np.float32)), 0, None)
        >>> [(pair.inner, pair.outer, pair.tie) for pair in said.violations], said.paradoxical, said.ranking
        ([(1, 2, True), (2, 3, False)], True, [0, 3, 1])
    """
    posterior, label = torch.tensor(log_probs)[None], torch.tensor([predicted])
    interval = None
    if calibration is not None and calibration.allows(ALPHA):
        own = temper(posterior, 1 / calibration.temperature) if calibrated else posterior
        lower, upper = calibration.intervals(own, label, ALPHA)[0].tolist()
        interval = lower, upper
    order = np.lexsort((np.abs(np.arange(len(log_probs)) - predicted), -log_probs))
    return Answer(
        probs=rounded(np.exp(log_probs)),
        raw=not calibrated and calibration is not None and calibration.temperature != 1,
        projected=rounded(project(posterior)[0].exp().numpy()),
        predicted=predicted,
        mode=int(mode(posterior)),
        median=int(median(posterior)),
        interval=interval,
        soi=float(side_order_index(posterior, label)),
        unimodal=bool(is_unimodal(posterior)),
        paradoxical=bool(is_paradoxical(posterior)),
        violations=violations(log_probs, predicted),
        ranking=order[:3].tolist(),
    )


def violations(log_probs: npt.NDArray[np.float32], predicted: int) -> tuple[Violation, ...]:
    """Returns the pairs that do not fall away from the prediction, lowest first."""
    gaps = signed_gaps(torch.tensor(log_probs)[None], torch.tensor([predicted]))[0]
    # "not below zero", not "zero or above": two minus infinities differ by NaN, and they are a tie
    return tuple(
        _violation(pair, predicted, tie=not bool(gaps[pair] > 0))
        for pair in torch.nonzero(~(gaps < 0)).flatten().tolist()
    )


def rounded(probs: npt.NDArray[np.floating]) -> list[float]:
    """Rounds probabilities for sending.

    Example:
        >>> rounded(np.array([0.3333333, 0.6666667]))
        [0.33333, 0.66667]
    """
    return [round(value, DIGITS) for value in probs.astype(np.float64).tolist()]


def _violation(pair: int, predicted: int, *, tie: bool) -> Violation:
    inner, outer = (pair + 1, pair) if pair < predicted else (pair, pair + 1)
    return Violation(inner=inner, outer=outer, tie=tie)
