"""How every command prints a table: with lines on a terminal, with tabs where another program reads."""

import sys
from collections.abc import Iterable, Sequence

import typer


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None) -> None:
    r"""Prints a table to standard output: drawn on a terminal, elsewhere a line a row with tabs between its cells.

    Args:
        header: The names of the columns.
        rows: A text a cell.
        title: What stands above the table, on a terminal only.

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
            typer.echo("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    table = Table(title=title)
    for name in header:
        table.add_column(name, overflow="fold")  # an address must stay whole to be of use
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # a name in brackets is no markup
    console.print(table)


def print_note(text: str) -> None:
    """One line on standard error, so that who reads the results is not disturbed."""
    sys.stdout.flush()  # where both are one terminal or one file, they stay in order
    typer.echo(text, err=True)
