"""Progress of training: a bar on a terminal, lines elsewhere, loggers for other tools."""

import importlib
import importlib.util
import inspect
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from onepeak._core.imports import require
from onepeak._core.wording import duration
from onepeak.errors import InputError, first_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Row: TypeAlias = dict[str, float]
"""One epoch of the history."""


@runtime_checkable
class Watch(Protocol):
    """An observer of training, such as a progress bar or a logger."""

    def step(self, epoch: int, step: int, num_steps: int) -> None:
        """Called after every step."""

    def epoch(self, row: Row) -> None:
        """Called after every epoch with its row of the history."""


_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


class ProgressBar:
    """A bar over all steps with the time left and figures of the last validation.

    Without a terminal it prints a line to standard error about every ten seconds. With `at_most`, training may stop
    earlier. `select` is what chooses the epoch, whose figure is shown too.
    """

    def __init__(
        self, title: str, epochs: int, *, at_most: bool = False, select: str = "mae", quiet: bool = False
    ) -> None:
        rich = require("rich.progress", extra="cli", purpose="The progress bar")
        console = require("rich.console", extra="cli", purpose="The progress bar").Console(stderr=True)
        self.title, self.epochs, self.select, self.figures = title, epochs, select, ""
        self.about = "at most" if at_most else "about"
        self.bar: Progress = rich.Progress(
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.TextColumn("epoch {task.fields[epoch]}"),
            rich.TimeElapsedColumn(),
            rich.TextColumn("left at most" if at_most else "left"),
            rich.TimeRemainingColumn(),
            rich.TextColumn("{task.fields[figures]}"),
            console=console,
            disable=quiet or not console.is_terminal,
        )
        self.task: TaskID = self.bar.add_task(title, total=None, epoch=f"0/{epochs}", figures="")
        self.in_lines = not (quiet or console.is_terminal)
        self.told = time.monotonic()
        self.first: tuple[float, float] | None = None
        """Time and epochs done at the first step; the time before it is not training."""

    def __enter__(self) -> "ProgressBar":
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def step(self, epoch: int, step: int, num_steps: int) -> None:
        """Advances the bar, or prints a line if one is due."""
        self.bar.update(self.task, total=self.epochs * num_steps, completed=epoch * num_steps + step)
        done, now = epoch + step / num_steps, time.monotonic()
        start, before = self.first = self.first or (now, done)
        if self.in_lines and now - self.told >= _EVERY:
            self.told = now
            seconds = (self.epochs - done) * (now - start) / (done - before) if done > before else None
            left = "" if seconds is None else f", {self.about} {duration(seconds)} left"
            figures = f", {self.figures}" if self.figures else ""
            sys.stderr.write(f"{self.title}: epoch {epoch + 1}/{self.epochs}{figures}{left}\n")
            sys.stderr.flush()

    def epoch(self, row: Row) -> None:
        """Shows the validation figures of the epoch."""
        self.figures = figures_of(row, self.select)
        self.bar.update(self.task, epoch=f"{int(row['epoch']) + 1}/{self.epochs}", figures=self.figures)


class LoggerWatch:
    """Sends every epoch's row to a Lightning logger.

    Args:
        name: "tensorboard", "csv", "wandb" or "mlflow" (with project and run as in "wandb:PROJECT/RUN"), or the
            dotted name of a Lightning logger class that takes `save_dir`.
        folder: Folder for the logger's files.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.logger = _make_logger(name, folder)

    def step(self, epoch: int, step: int, num_steps: int) -> None:
        """Steps are not logged: reading the loss would make every step wait for the device."""

    def epoch(self, row: Row) -> None:
        """Logs the row."""
        self.logger.log_metrics({name: value for name, value in row.items() if name != "epoch"}, int(row["epoch"]))
        if self.logger.__class__.__name__ == "CSVLogger":
            self.logger.save()


_LOGGERS = {
    "tensorboard": ("tensorboard", "lightning.fabric.loggers.TensorBoardLogger"),
    "csv": (None, "lightning.fabric.loggers.CSVLogger"),
    "wandb": ("wandb", "lightning.pytorch.loggers.WandbLogger"),
    "mlflow": ("mlflow", "lightning.pytorch.loggers.MLFlowLogger"),
}
"""The package that each needs, and its class."""
_PROJECT = {"wandb": ("project", "name"), "mlflow": ("experiment_name", "run_name")}
"""What each calls its project and its run."""


def check_logger(name: str) -> None:
    """Rejects a logger by a name that is not known, or whose package is missing, before any training."""
    kind = name.partition(":")[0]
    package, dotted = _LOGGERS.get(kind, (None, name))
    if name != "none" and "." not in dotted.strip("."):
        raise InputError(
            f"`logger` must be none, {', '.join(_LOGGERS)} or the dotted name of a Lightning logger, got {name!r}."
        )
    if package is not None and importlib.util.find_spec(package) is None:
        raise InputError(
            f"`logger` {kind!r} needs the package {package}, which is not installed: pip install {package}"
        )


def _make_logger(name: str, folder: Path) -> Any:
    check_logger(name)
    kind, _, where = name.partition(":")
    module, _, attribute = _LOGGERS.get(kind, (None, name))[1].rpartition(".")
    try:
        made = getattr(importlib.import_module(module), attribute)
        if not hasattr(made, "log_metrics"):
            raise InputError(f"`logger` must name a Lightning logger, got {name!r}, which has no log_metrics.")
        if "root_dir" in inspect.signature(made).parameters:  # Fabric's own loggers
            return made(root_dir=folder, name="logs", version="")
        project, _, run = where.partition("/")
        values = (project or "onepeak", run or f"{folder.parent.name}-{folder.name}")
        return made(save_dir=str(folder), **dict(zip(_PROJECT.get(kind, ()), values, strict=False)))
    except ModuleNotFoundError as error:
        raise InputError(
            f"`logger` {name!r} needs a package that is not installed: {error.name or first_line(error)}"
        ) from error
    except AttributeError as error:
        raise InputError(f"`logger` must name a class, got {name!r}: {error}.") from error


def figures_of(row: Row, select: str = "mae") -> str:
    """Returns the most informative figures of an epoch: what chooses the epoch, the error and the order.

    Example:
        >>> figures_of({"valid_mae": 1.2345, "valid_soi_predicted": 0.875})
        'MAE 1.23, SOI 87.5%'
        >>> figures_of({"valid_qwk": 0.7654, "valid_mae": 1.2345, "valid_soi_predicted": 0.875}, "qwk")
        'qwk 0.765, MAE 1.23, SOI 87.5%'
    """
    chosen = "" if select in ("mae", "last", "soi_predicted") else f"{select} {row[f'valid_{select}']:.3g}, "
    return f"{chosen}MAE {row['valid_mae']:.3g}, SOI {row['valid_soi_predicted']:.1%}"
