"""Observers of training."""

from typing import Protocol, TypeAlias, runtime_checkable

Row: TypeAlias = dict[str, float]
"""One epoch of the history."""


@runtime_checkable
class Watch(Protocol):
    """An observer of training, such as a progress bar or a logger."""

    def step(self, epoch: int, step: int, num_steps: int) -> None:
        """Called after every step."""

    def epoch(self, row: Row) -> None:
        """Called after every epoch with its row of the history."""
