"""Rows of a CSV of which it is said that commas in its numbers are decimal."""

from pathlib import Path

from onepeak.errors import InputError
from onepeak.serving.table_rows import TableRows, rows_of_file
from onepeak.training.table import TableEncoder


def decimal_rows(inputs: object, encoder: TableEncoder | None, decimal: str) -> TableRows:
    """As `rows_of` gives them, of a file that is read by `decimal`.

    Args:
        inputs: A CSV; anything else has no decimal commas, and is refused.
        encoder: What the model was trained with; None if that was pictures, which are refused.
        decimal: ","; see `onepeak.data.table_file.read_table`.
    """
    if encoder is None:
        raise InputError("`decimal` has no use for a model of pictures: leave it out.")
    if not isinstance(inputs, str | Path):
        raise InputError(f"`decimal` has no use for inputs that are no CSV file, got {type(inputs).__name__}.")
    table = rows_of_file(Path(inputs), encoder, decimal=decimal)
    if table.unanswered:
        first = min(table.unanswered)
        reason = table.unanswered[first]
        raise InputError(f"{table.source_name} {table.sources[first]} of the inputs cannot be answered: {reason}.")
    return table
