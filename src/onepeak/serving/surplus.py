"""A row of a CSV with too many fields: in which of its columns a field stands, as far as that can be known."""

import math
from collections.abc import Collection, Sequence

from onepeak.data.listing import listed
from onepeak.data.table_file import Table
from onepeak.data.text_columns import present_text
from onepeak.serving.kept import Kept, kept_columns


def kept_and_misfits(
    table: Table, keep: Sequence[str], *, numbers: Collection[str] = ()
) -> tuple[Kept | None, dict[int, str]]:
    """The columns to copy beside the answers, and what is wrong with rows of too few or too many fields, by line.

    Of a row with too many fields, the cells to copy are those that are known; which are not, its message says.

    Args:
        table: As `read_table` gives it, all columns as text.
        keep: See `onepeak.serving.kept.kept_columns`; nothing where there are none.
        numbers: The columns that hold numbers.
    """
    wrong = {line: table.misfit(line) for line in table.misfits}
    if not keep:
        return None, wrong
    frame, header = table.frame.copy(), [str(name) for name in table.frame.columns]
    names = kept_columns(frame, keep).names
    for line, fields in table.misfits.items():
        if len(fields) < len(header):
            continue
        known = known_fields(fields, header, numbers=numbers)
        for name in known.keys() & set(names):
            frame.loc[line, name] = known[name]
        if gone := [f"`{name}`" for name in names if name not in known]:
            wrong[line] += f", so that {listed(gone)} cannot be told"
    return kept_columns(frame, keep), wrong


def known_fields(fields: Sequence[str], header: Sequence[str], *, numbers: Collection[str]) -> dict[str, str]:
    """The fields that belong to their column wherever the surplus is.

    Most often a separator within a cell has torn it, and every cell after it stands too far to the right. Which cell it
    was is not known, but none that leaves text in a column of numbers. A field is known if it is the same in all cases
    that are left.

    Args:
        fields: More than the header has.
        header: The names of the columns.
        numbers: The columns that hold numbers.

    Returns:
        The fields that are known, by column.

    Example:
        >>> header = ["id", "tone", "size", "note"]
        >>> known_fields(["a7", "dark", "0.5", "see page 3", "below"], header, numbers={"size"})
        {'id': 'a7', 'tone': 'dark', 'size': '0.5'}
        >>> known_fields(["a7", "dark", "pale", "0.5", "none"], header, numbers={"size"})
        {'size': '0.5', 'note': 'none'}
    """
    width, surplus = len(header), len(fields) - len(header)
    cases: list[list[str | None]] = []
    for torn in range(width + 1):  # in the last case the surplus stands behind all cells
        case = [*fields[:torn], None, *fields[torn + surplus + 1 :]][:width]
        pieces = fields[torn : torn + surplus + 1] if torn < width and header[torn] in numbers else ()
        cells = [cell for name, cell in zip(header, case, strict=True) if name in numbers and cell is not None]
        if all(map(_fits, (*cells, *pieces))):
            cases.append(case)
    known = {}
    for place, name in enumerate(header):
        found = {case[place] for case in cases}
        cell = found.pop() if len(found) == 1 else None
        if cell is not None:
            known[name] = cell
    return known


def _fits(cell: str) -> bool:
    """Whether a column of numbers can hold the cell."""
    text = present_text(cell)
    if text is None or text.casefold() in ("true", "false"):
        return True
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
