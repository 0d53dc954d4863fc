"""The data of the sample pages, as records that become JSON. Classes are counted from 0."""

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
    """Classes that are not less probable than their neighbour towards the prediction."""
    features: dict[str, str]
    """The first few columns, for tables."""


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
class MethodAnswer:
    """The prediction of one row for the sample."""

    row: str
    answer: Answer
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
    answers: tuple[MethodAnswer, ...]
    surroundings: Surroundings
