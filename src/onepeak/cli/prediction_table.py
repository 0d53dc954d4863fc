"""What `onepeak predict` shows on a terminal: a table of the answers."""

import math
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from onepeak.serving.output import OutputColumns
from onepeak.serving.passthrough_columns import beside
from onepeak.serving.prediction import Row, unlike_text

_MOST_ROWS = 200
"""More are not shown: the table is made whole before it is printed."""


def print_answers(rows: Iterable[Row], columns: OutputColumns) -> None:
    """Prints the first rows as a table, and how many more there are.

    Args:
        rows: All of them are taken.
        columns: What stands beside the answers.
    """
    visible: list[tuple[list[Text], Row]] = []
    more = 0
    for row, cells in beside(rows, columns.passthrough):
        if len(visible) == _MOST_ROWS:
            more += 1
        else:
            visible.append(([Text("" if cell is None else str(cell)) for cell in (row.source, *cells)], row))
    unlike = any(row.unlike for _, row in visible)  # a column that is empty throughout is no use on a narrow screen
    fields = ("class", "p", "interval", "side order", "one peak")
    last = (*(("action",) if columns.actions else ()), *(("unlike",) if unlike else ()))
    table = Table()
    for name in (columns.source_name, *columns.kept_names, *fields, *last):
        table.add_column(name, overflow="fold")  # a path must stay whole to be of use
    for known, row in visible:
        table.add_row(*known, *_cells(row, columns.actions, unlike=unlike))
    console = Console()
    console.print(table)
    if more:
        console.print(f"... and {more:,} more rows (--csv, --json and --out give all).", highlight=False)


def _cells(row: Row, actions: tuple[str, ...], *, unlike: bool) -> list[Text]:
    if row.log_probs is None or row.label is None or row.soi is None:
        return [Text(f"error: {row.error}", style="red")]
    return [
        Text(str(row.name)),
        Text(f"{math.exp(row.log_probs[row.label]):.3f}"),
        Text("" if row.lower is None else f"{row.lower_name} .. {row.upper_name}"),
        Text(f"{row.soi:.3f}"),
        Text("no, paradox", style="red") if row.paradoxical else Text("yes" if row.unimodal else "no"),
        *([Text(actions[row.label])] if actions else []),
        *([Text(unlike_text(row.unlike) or "", style="red")] if unlike else []),
    ]
