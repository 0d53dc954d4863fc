"""Progress of a build: a bar on a terminal, or calls to a function."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = bool | Callable[[int, int], None] | None
"""True: a bar; False: none; None: a bar only on a terminal; a function: called with (done, total)."""


@contextmanager
def progress_of(progress: Progress, *, title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields the function to call with the number of images done so far."""
    if callable(progress):
        report = progress
        yield lambda done: report(done, total)
    elif progress or (progress is None and sys.stderr.isatty()):
        with _bar(title, total) as advance:
            yield advance
    else:
        yield lambda _: None


@contextmanager
def _bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=console.is_terminal
    ) as bar:  # in a log file the finished bar remains
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)
