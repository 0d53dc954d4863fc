"""What the pages of samples are given, as records that become JSON. Classes are counted from 0."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from onepeak.serving.inspector.one_sample import Answer

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
    """Classes that are not less probable than their neighbour on the way to the prediction."""
    features: dict[str, str]
    """The first few columns, for tables."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """Some of the samples that a filter leaves."""

    kind: Kind
    reason: str
    """Why there are no images."""
    total: int
    page: int
    """From 1."""
    num_pages: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True)
class MethodAnswer:
    """What one row says of the sample."""

    row: str
    answer: Answer
    no_evidence: str
    """Why its model cannot show where the class comes from; empty where it can."""
    evidence_range: tuple[float, float] | None
    """What its maps draw as nothing and as brightest; None where they have no scale in common."""


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """The sample before or after in the list that the user came from."""

    part: str
    item: int


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where a sample stands in the list that the user came from."""

    position: int | None
    """From 1; None where the sample is not in the list."""
    total: int
    previous: Neighbour | None
    next: Neighbour | None


@dataclass(frozen=True, kw_only=True)
class OneSample:
    """All that the runs say of one sample."""

    part: str
    item: int
    name: str
    truth: int
    trained_on: bool
    """Whether the model that is asked learnt from it; never of a run's test part."""
    kind: Kind
    reason: str
    """Why there is no image."""
    features: dict[str, str]
    true_probs: list[float] | None
    """The true posterior, known only for generated data."""
    parts: tuple[str, ...]
    """All splits and folds in whose test part the sample is."""
    answers: tuple[MethodAnswer, ...]
    surroundings: Surroundings
