"""How every command prints tables, JSON, notes and that it is at work."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from onepeak._core.formats import json_text
from onepeak._core.wording import visible

if TYPE_CHECKING:
    from rich.text import Text

    from onepeak._core.imports import Frame


def print_table(header: Sequence[str], rows: "Iterable[Sequence[str | Text]]", *, title: str | None = None) -> None:
    r"""Prints a table to standard output: drawn on a terminal, elsewhere one line per row with tabs between its cells.

    Example:
        >>> print_table(["name", "better"], [["mae", "lower"], ["soi", "higher"]])  # doctest: +NORMALIZE_WHITESPACE
        name    better
        mae     lower
        soi     higher
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        for row in (header, *rows):
            typer.echo("\t".join(visible(str(cell)).replace("\t", " ").replace("\n", " ") for cell in row))
        return
    table = Table(title=title)
    for name in header:
        table.add_column(name, overflow="fold")  # an address must stay whole to be of use
    for row in rows:
        table.add_row(*(Text(visible(each)) if isinstance(each, str) else each for each in row))  # no markup
    console.print(table)


def print_results(results: "Frame", *, against: str | None = None) -> None:
    """Prints error and consistency of every method, on a terminal with the best in bold and what the signs mean."""
    from rich.console import Console
    from rich.text import Text

    from onepeak.report.tables import terminal_tables

    tables = terminal_tables(results, against=against)
    drawn = Console().is_terminal
    named = len(tables) > 1 or not drawn
    rows = []
    for table in tables:
        for row in table.rows:
            cells = [Text(cell.text + cell.mark, style="bold" if cell.bold else "") for cell in row]
            rows.append([*([table.title] if named else []), *(cells if drawn else (cell.text for cell in row))])
    print_table((*(("dataset",) if named else ()), *tables[0].header), rows, title=None if named else tables[0].title)
    if drawn:
        for table in tables:
            typer.echo(f"{table.title}: {table.caption}" if named else table.caption)


def print_json(content: object) -> None:
    """Prints JSON to standard output; a number that is not finite becomes null."""
    typer.echo(json_text(content))


def print_note(text: str) -> None:
    """One line on standard error, so that who reads the results is not disturbed."""
    sys.stdout.flush()  # where both are one terminal or one file, they stay in order
    typer.echo(visible(text), err=True)


def print_notes(notes: Iterable[str]) -> None:
    """What the user should know of what was asked for, a line each on standard error."""
    for note in notes:
        print_note(f"Note: {note}")


def predict_command(model: Path) -> str:
    """The command that predicts new samples with a model: rows of a table, or files of images."""
    from onepeak.training.model_files import load_description

    return f"onepeak predict {model} {'FILES' if load_description(model).table is None else 'new.csv'}"


@contextmanager
def spinner(what: str, *, quiet: bool = False) -> Iterator[None]:
    """A sign of life on standard error while something is done: a spinner on a terminal, one line elsewhere."""
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet)
    if not quiet and not console.is_terminal:
        print_note(f"{what} ...")
    with console.status(what):
        yield
