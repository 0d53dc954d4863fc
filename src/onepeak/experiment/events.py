"""What is told while the runs of an experiment are trained."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from onepeak.experiment.grid import Run
from onepeak.training.watch import Row


@dataclass(frozen=True, kw_only=True)
class Started:
    """A run begins, or goes on from its checkpoint."""

    run: Run


@dataclass(frozen=True, kw_only=True)
class EpochDone:
    """A run has come one epoch further."""

    run: Run
    row: Row
    """Of its history."""


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A run is done, now or before."""

    run: Run
    result: dict[str, Any]
    """What `result.json` says."""


@dataclass(frozen=True, kw_only=True)
class Failed:
    """A run ended with an error, which its `error.json` tells in full."""

    run: Run
    message: str
    unforeseen: bool = False
    """Whether it is no error of onepeak's own, so that the process may not be fit for another run."""
    out_of_memory: bool = False
    """Whether it lacked memory, which it might have found without other runs beside it."""


@dataclass(frozen=True, kw_only=True)
class Elsewhere:
    """Another process is training the run."""

    run: Run


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The process or machine that trained a run is gone, or unfit; the run will go on, or begin anew."""

    run: Run
    message: str


Event: TypeAlias = Started | EpochDone | Finished | Failed | Elsewhere | Lost
Report: TypeAlias = Callable[[Event], object]
"""Who is told."""
