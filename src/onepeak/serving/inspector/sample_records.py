"""The data of the sample pages, as records that become JSON. Classes are counted from 0."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from onepeak.constraints.gaps import signed_gaps
from onepeak.metrics.functional.side_order_index import side_order_index
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
class SamplePrediction:
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
) -> SamplePrediction:
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
    return SamplePrediction(
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


Kind: TypeAlias = Literal["pictures", "rows", "nothing"]
"""What can be shown of a sample besides its posterior."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One sample in the grid."""

    part: str
    item: int
    name: str
    truth: int
    trained_on: bool
    predicted: int
    soi: float
    paradoxical: bool
    probs: list[float]
    out_of_order: list[int]
    """Classes that are not less probable than their neighbour towards the prediction."""
    features: dict[str, str]
    """The first few columns, for tables."""
    flag: bool
    note: str
    other: int | None
    """The prediction of the other row of the filter."""
    other_probs: list[float] | None


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page of the samples that pass a filter."""

    kind: Kind
    reason: str
    """Why there are no images."""
    total: int
    page: int
    """From 1."""
    num_pages: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True)
class MethodPrediction:
    """The prediction of one row for the sample."""

    row: str
    answer: SamplePrediction
    no_evidence: str
    """Why its model cannot make an evidence map; empty if it can."""
    evidence_range: tuple[float, float] | None
    """The values that its maps draw as nothing and as brightest; None if they share no scale."""


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """The previous or next sample in the list that the user came from."""

    part: str
    item: int


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The position of a sample in the list that the user came from."""

    position: int | None
    """From 1; None where the sample is not in the list."""
    total: int
    previous: Neighbour | None
    next: Neighbour | None


@dataclass(frozen=True, kw_only=True)
class OneSample:
    """Everything the runs predict for one sample."""

    part: str
    item: int
    name: str
    truth: int
    trained_on: bool
    """Whether the inspected model was trained on it; never true for a run's test part."""
    kind: Kind
    reason: str
    """Why there is no image."""
    features: dict[str, str]
    true_probs: list[float] | None
    """The true posterior, known for generated data only."""
    parts: tuple[str, ...]
    """All splits and folds whose test part contains the sample."""
    answers: tuple[MethodPrediction, ...]
    surroundings: Surroundings
    flag: bool
    note: str
