"""Progress of training without a terminal: a line from time to time."""

import sys
import time

from onepeak._listing import duration
from onepeak.training.watch import Row


class ProgressLines:
    """Prints a line to standard error about every ten seconds: epoch, figures of the last validation, time left.

    Args:
        title: What is being trained.
        epochs: Number of epochs.
        at_most: Whether training may stop earlier, so that less time may be left.
        select: What chooses the epoch, see `figures_of`.
        every_seconds: Shortest time between two lines.
    """

    def __init__(
        self, title: str, epochs: int, *, at_most: bool = False, select: str = "mae", every_seconds: float = 10.0
    ) -> None:
        self.title, self.epochs, self.select, self.every_seconds = title, epochs, select, every_seconds
        self.about = "at most" if at_most else "about"
        self.figures = ""
        self.told = time.monotonic()
        self.first: tuple[float, float] | None = None
        """Time and epochs done at the first step; the time before it is not training."""

    def step(self, epoch: int, step: int, num_steps: int) -> None:
        """Prints a line if one is due."""
        done = epoch + step / num_steps
        now = time.monotonic()
        self.first = self.first or (now, done)
        if now - self.told < self.every_seconds:
            return
        self.told = now
        start, before = self.first
        rate = (now - start) / (done - before) if done > before else None
        left = "" if rate is None else f", {self.about} {duration((self.epochs - done) * rate)} left"
        sys.stderr.write(f"{self.title}: epoch {epoch + 1}/{self.epochs}{self.figures}{left}\n")
        sys.stderr.flush()

    def epoch(self, row: Row) -> None:
        """Keeps the validation figures of the epoch for the next line."""
        self.figures = f", {figures_of(row, self.select)}"


def figures_of(row: Row, select: str = "mae") -> str:
    """Returns the most informative figures of an epoch: what chooses the epoch, the error and the order.

    Args:
        row: The figures of the epoch.
        select: The metric that chooses the epoch; "last" has no figure.

    Example:
        >>> figures_of({"valid_mae": 1.2345, "valid_soi_predicted": 0.875})
        'MAE 1.23, SOI 87.5%'
        >>> figures_of({"valid_qwk": 0.7654, "valid_mae": 1.2345, "valid_soi_predicted": 0.875}, "qwk")
        'qwk 0.765, MAE 1.23, SOI 87.5%'
    """
    chosen = "" if select in ("mae", "last", "soi_predicted") else f"{select} {row[f'valid_{select}']:.3g}, "
    return f"{chosen}MAE {row['valid_mae']:.3g}, SOI {row['valid_soi_predicted']:.1%}"
