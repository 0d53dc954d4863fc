"""What `onepeak compare` shows while it works: a live table on a terminal, lines elsewhere."""

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from onepeak._core.wording import counted, duration
from onepeak.experiment.events import Event, Failed, Finished, Lost, MethodProgress, Progress, Report

if TYPE_CHECKING:
    from rich.console import Console, Group

_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


@contextlib.contextmanager
def watching(progress: Progress, *, quiet: bool, console: "Console | None" = None) -> Iterator[Report]:
    """Shows how far a comparison is, on standard error.

    Yields:
        What is to be told of every event.
    """
    from rich.console import Console

    console = console or Console(stderr=True, highlight=False)
    if quiet:
        yield progress.note
    elif console.is_terminal:
        with _live(progress, console) as report:
            yield report
    else:
        lines = Lines(progress)
        yield lines.tell
        lines.tell_of_before()


@contextlib.contextmanager
def _live(progress: Progress, console: "Console") -> Iterator[Report]:
    from rich.live import Live

    start = time.monotonic()

    def drawn() -> "Group":
        return live_table(progress, elapsed=time.monotonic() - start)

    with Live(console=console, refresh_per_second=2, get_renderable=drawn) as live:

        def tell(event: Event) -> None:
            progress.note(event)
            if isinstance(event, Failed | Lost):
                style = "red" if isinstance(event, Failed) else "yellow"
                live.console.print(_failure_text(event), style=style, markup=False, highlight=False)

        yield tell


def live_table(progress: Progress, *, elapsed: float) -> "Group":
    """One row per method: how far its runs are, and what they have found so far."""
    from rich.console import Group
    from rich.table import Table

    table = Table("method", "done", "failed", "at work", "mean MAE", "mean SOI")
    for method in progress.methods.values():
        at_work = [line.removeprefix(f"{method.label}/") for line in _at_work(method)]
        at_work += [f"{name.removeprefix(f'{method.label}/')} elsewhere" for name in sorted(method.elsewhere)]
        mae, soi = method.mean("mae"), method.mean("soi_predicted")
        figures = "" if mae is None else f"{mae:.3f}", "" if soi is None else f"{soi:.1%}"
        done = f"{method.finished}/{method.total}"
        table.add_row(method.label, done, str(method.failed or ""), ", ".join(at_work), *figures)
    left = progress.left_in_words()
    foot = f"{progress.count('finished')} of {progress.count('total')} runs done, {duration(elapsed)} so far"
    return Group(table, foot if left is None else f"{foot}, {left}")


class Lines:
    """A line for every run that ends, one for all that had ended before, and one now and then on all of them."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.spoke = progress.clock()
        self.before = 0
        """Runs that were finished before, of which nothing was said yet."""

    def tell(self, event: Event) -> None:
        """Notes an event, and says what is worth a line."""
        method, name = self.progress.methods[event.run.entry.label], event.run.name
        if isinstance(event, Finished) and name not in method.running and name not in method.elsewhere:
            self.progress.note(event)
            self.before += 1
            return
        self.tell_of_before()
        self.progress.note(event)
        match event:
            case Finished(run=run, result=result):
                test = result["metrics"]["test"]
                self._say(f"{run.name}: MAE {test['mae']:.3f}, SOI {test['soi_predicted']:.1%} ({self._count()})")
            case Failed() | Lost():
                self._say(f"{_failure_text(event)} ({self._count()})")
            case _ if self.progress.clock() - self.spoke >= _EVERY:
                at_work = [each for method in self.progress.methods.values() for each in _at_work(method)]
                left = self.progress.left_in_words()
                rest = "" if left is None else f"; {left}"
                self._say(f"{', '.join(at_work) or 'waiting for another process'} ({self._count()}{rest})")

    def tell_of_before(self) -> None:
        """Says how many runs were finished before, where that is not said yet."""
        if self.before:
            verb = "was" if self.before == 1 else "were"
            self._say(f"{counted(self.before, 'run')} {verb} finished before ({self._count()})")
            self.before = 0

    def _say(self, line: str) -> None:
        typer.echo(line, err=True)
        self.spoke = self.progress.clock()

    def _count(self) -> str:
        return f"{self.progress.count('finished')} of {self.progress.count('total')} runs done"


def _failure_text(event: Failed | Lost) -> str:
    return f"{event.run.name} {'failed' if isinstance(event, Failed) else 'starts again'}: {event.message}"


def _at_work(method: MethodProgress) -> list[str]:
    return [f"{name} epoch {epoch}/{method.epochs}" for name, epoch in method.running.items()]
