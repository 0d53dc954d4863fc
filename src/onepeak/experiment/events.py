"""Events reported while the runs of an experiment are trained."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from onepeak.experiment.grid import Run
from onepeak.training.watch import Row


@dataclass(frozen=True, kw_only=True)
class Started:
    """A run begins, or continues from its checkpoint."""

    run: Run


@dataclass(frozen=True, kw_only=True)
class EpochDone:
    """A run has finished an epoch."""

    run: Run
    row: Row
    """The epoch's row in the history."""


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A run is finished, now or earlier."""

    run: Run
    result: dict[str, Any]
    """The content of `result.json`."""


@dataclass(frozen=True, kw_only=True)
class Failed:
    """A run ended with an error; its `error.json` has the details."""

    run: Run
    message: str
    unforeseen: bool = False
    """Whether the error is not one of onepeak's own, so that the process may be unfit for another run."""
    out_of_memory: bool = False
    """Whether it ran out of memory, which might have sufficed without other runs in parallel."""


@dataclass(frozen=True, kw_only=True)
class Elsewhere:
    """Another process is training the run."""

    run: Run


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The process or machine of a run is gone or unfit; the run will continue or start again."""

    run: Run
    message: str


Event: TypeAlias = Started | EpochDone | Finished | Failed | Elsewhere | Lost
Report: TypeAlias = Callable[[Event], object]
"""A callback for events."""
