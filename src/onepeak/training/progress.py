"""Progress of training: a bar on a terminal, lines elsewhere, loggers for other tools."""

import importlib
import inspect
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from onepeak._extras import require
from onepeak.errors import InputError
from onepeak.training.progress_lines import ProgressLines, figures_of
from onepeak.training.watch import Row

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class ProgressBar:
    """A bar over all steps with the time left and figures of the last validation; lines if there is no terminal.

    Args:
        title: What is being trained.
        epochs: Number of epochs.
        at_most: Whether training may stop earlier, so that less time may be left.
        select: What chooses the epoch, whose figure is shown too.
        quiet: Whether to show nothing.
    """

    def __init__(
        self, title: str, epochs: int, *, at_most: bool = False, select: str = "mae", quiet: bool = False
    ) -> None:
        rich = require("rich.progress", extra="cli", purpose="The progress bar")
        console = require("rich.console", extra="cli", purpose="The progress bar").Console(stderr=True)
        self.epochs, self.select = epochs, select
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
        lines = ProgressLines(title, epochs, at_most=at_most, select=select)
        self.lines = None if quiet or console.is_terminal else lines
        self.task: TaskID = self.bar.add_task(title, total=None, epoch=f"0/{epochs}", figures="")

    def __enter__(self) -> "ProgressBar":
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def step(self, epoch: int, step: int, num_steps: int) -> None:
        """Advances the bar."""
        if self.lines is not None:
            self.lines.step(epoch, step, num_steps)
        self.bar.update(self.task, total=self.epochs * num_steps, completed=epoch * num_steps + step)

    def epoch(self, row: Row) -> None:
        """Shows the validation figures of the epoch."""
        if self.lines is not None:
            self.lines.epoch(row)
        self.bar.update(self.task, epoch=f"{int(row['epoch']) + 1}/{self.epochs}", figures=figures_of(row, self.select))


class LoggerWatch:
    """Sends every epoch's row to a Lightning logger.

    Args:
        name: "tensorboard", "csv", or the dotted name of a Lightning logger class that takes `save_dir`.
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


def _make_logger(name: str, folder: Path) -> Any:
    known = {
        "tensorboard": "lightning.fabric.loggers.TensorBoardLogger",
        "csv": "lightning.fabric.loggers.CSVLogger",
    }
    dotted = known.get(name, name)
    module, _, attribute = dotted.rpartition(".")
    if not module:
        raise InputError(
            f"`logger` must be none, {', '.join(known)} or the dotted name of a Lightning logger, got {name!r}."
        )
    try:
        kind = getattr(importlib.import_module(module), attribute)
        if not hasattr(kind, "log_metrics"):
            raise InputError(f"`logger` must name a Lightning logger, got {name!r}, which has no log_metrics.")
        if "root_dir" in inspect.signature(kind).parameters:  # Fabric's own loggers
            return kind(root_dir=folder, name="logs", version="")
        return kind(save_dir=str(folder))
    except ModuleNotFoundError as error:
        raise InputError(f"`logger` {name!r} needs {error.name}, which is not installed.") from error
    except AttributeError as error:
        raise InputError(f"`logger` must name a class, got {name!r}: {error}.") from error
