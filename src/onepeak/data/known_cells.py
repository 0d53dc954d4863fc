"""Cells of columns that are known already, such as those of a model: names stay names, numbers are numbers."""

from collections.abc import Collection, Sequence

from onepeak.data.features import check_columns
from onepeak.data.frame_types import Frame
from onepeak.data.number_cells import number_cells


def known_cells(
    frame: Frame, *, columns: Sequence[str], categories: Collection[str]
) -> tuple[Frame, dict[str, dict[int, str]]]:
    """These columns of a table as they are written in its file, and no others; nothing is guessed from what they hold.

    Args:
        frame: The table; its cells are text as it is written, or of a type of their own, as in parquet.
        columns: The columns wanted, in their order.
        categories: Those of them that hold names, which stay as they are: `encode_like` reads them. In this table they
            may happen to hold nothing but numbers.

    Returns:
        The columns, and what is wrong with cells that should be numbers, by column and position.

    Example:
        >>> import pandas
        >>> table = pandas.DataFrame({"size": ["1.5", "big"], "site": ["0012", "NA"], "id": ["a", "b"]})
        >>> found, wrong = known_cells(table, columns=["site", "size"], categories=["site"])
        >>> found.to_dict("list"), wrong
        ({'site': ['0012', 'NA'], 'size': [1.5, nan]}, {'size': {1: "`size` must be a number, got 'big'"}})
    """
    check_columns(frame, columns)
    found, wrong = frame[list(columns)].copy(), dict[str, dict[int, str]]()
    for name in columns:
        if name not in categories:
            found[name], cells = number_cells(frame[name])
            if cells:
                wrong[name] = cells
    return found, wrong
