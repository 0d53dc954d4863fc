"""Which rows of a table can be used, and what is wrong with the others: all of it told at once."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from onepeak._listing import counted, listed
from onepeak.data.decimal_commas import DECIMAL_COMMA, SAY_SO, are_decimal_if_said
from onepeak.data.faults import CORRECT, FEW, Fault, rows_without
from onepeak.data.features import feature_faults
from onepeak.data.frame_columns import Columns
from onepeak.data.frame_types import Column, Frame
from onepeak.data.groups import group_faults
from onepeak.data.order import label_faults, lost_classes, order_labels
from onepeak.data.picture_list import check_pictures, missing_pictures, unnamed_pictures
from onepeak.errors import InputError


def usable_rows(
    frame: Frame,
    numbers: Frame,
    columns: Columns,
    *,
    known: Sequence[Fault] = (),
    skip_bad: bool = False,
    keep_classes: bool = True,
) -> tuple[list[int], tuple[str, ...]]:
    """The places of the rows without a fault, and notes on those that are left out.

    Args:
        frame: The table.
        numbers: Its features that are numbers; not looked at where there are pictures.
        columns: What the others are for.
        known: Faults that were found already, such as in the file; the other cells of rows that it could not read are
            none.
        skip_bad: Whether rows with a fault are left out; else they are an error.
        keep_classes: Whether it is refused to leave out all items of a class.

    Example:
        >>> import pandas
        >>> from onepeak.data.frame_columns import columns_of
        >>> table = pandas.DataFrame({"n": [1.0, 2.0, 3.0, 4.0, 5.0], "label": [1, 2, None, 1, 2]})
        >>> told = {"order": None, "group": None, "path": None, "category": (), "drop": (), "root": None}
        >>> usable_rows(table, table[["n"]], columns_of(table, label="label", read_as="", **told), skip_bad=True)
        ([0, 1, 3, 4], ('left out 1 of 5 rows: no label (row 2)',))
    """
    faults = _faults(frame, numbers, columns, known, may_grow=keep_classes)
    bad = {place for fault in faults for place in fault.places}
    if bad and columns.path is not None and not skip_bad:  # then the flag would leave these out too
        bad.update(missing_pictures(frame[columns.path].tolist(), root=columns.root))
    lost = lost_by(frame, columns, bad) if keep_classes else {}
    also = _also_wrong(frame, columns, lost)
    return rows_without(faults, rows=list(frame.index), skip_bad=skip_bad, lost=lost, also=also)


def lost_by(frame: Frame, columns: Columns, left_out: Collection[int]) -> dict[str, str]:
    """See `lost_classes`, which is not asked of a table that is whole: it looks at every label."""
    return lost_classes(plain(frame[columns.label]), left_out=left_out, order=columns.order) if left_out else {}


def cell_fault(column: Column, wrong: Iterable[int]) -> Fault:
    """What is wrong with cells that are no numbers.

    Args:
        column: The column.
        wrong: The places of the cells.

    Example:
        >>> import pandas
        >>> cell_fault(pandas.Series(["1", "x"], name="n", index=[2, 3]), [1]).sentence
        "The column 'n' must be finite numbers that fit into float32, 1 row has none: 'x' (row 3)"
    """
    places = tuple(sorted(wrong))
    cells = listed((f"{column.iloc[place]!r} (row {column.index[place]})" for place in places), limit=FEW)
    commas = any(DECIMAL_COMMA.fullmatch(str(column.iloc[place]).strip()) for place in places)
    has = f"{counted(len(places), 'row')} {'has' if len(places) == 1 else 'have'} none"
    return Fault(
        places=places,
        sentence=f"The column {column.name!r} must be finite numbers that fit into float32, {has}: {cells}",
        advice=f"{CORRECT}, or of a CSV {SAY_SO}" if commas and are_decimal_if_said(column.tolist()) else CORRECT,
        reason=f"no usable number in {column.name!r}",
    )


def plain(column: Column) -> Sequence[object]:
    """The values as Python objects, None where missing whatever the column's type.

    Example:
        >>> import pandas
        >>> plain(pandas.Series([1.0, None]))
        [1.0, None]
    """
    return [None if gone else value for value, gone in zip(column.tolist(), column.isna(), strict=True)]


def _faults(frame: Frame, numbers: Frame, columns: Columns, known: Sequence[Fault], *, may_grow: bool) -> list[Fault]:
    unread = {row for fault in known if fault.unread for row in fault.places}
    read = [row for row in range(len(frame)) if row not in unread]
    part = frame.iloc[read]
    rows = list(part.index)
    found = label_faults(
        plain(part[columns.label]), rows=rows, order=columns.order, source=columns.source, may_grow=may_grow
    )
    if columns.group is not None:
        found += group_faults(part[columns.group])
    if columns.path is None:
        found = [*feature_faults(numbers.iloc[read]), *found]
    else:
        known = [fault for fault in known if fault.unread]  # no other column of a list is read
        unnamed = unnamed_pictures(part[columns.path].tolist(), rows=rows, column=columns.path)
        found = found if unnamed is None else [unnamed, *found]
    return [*known, *(replace(fault, places=tuple(read[place] for place in fault.places)) for fault in found)]


def _also_wrong(frame: Frame, columns: Columns, lost: Mapping[str, str]) -> Iterator[str]:
    """What else is wrong with labels and pictures, beside single cells; `lost` is that of `rows_without`."""
    labels, rows = plain(frame[columns.label]), list(frame.index)
    bad = {place for fault in label_faults(labels, rows=rows, order=columns.order) for place in fault.places}
    present = [label for place, label in enumerate(labels) if place not in bad]
    try:
        if present:
            order_labels(present, order=columns.order)
    except InputError as error:
        yield str(error)
    if columns.path is None:
        return
    unnamed = unnamed_pictures(frame[columns.path].tolist(), rows=rows, column=columns.path)
    gone = set() if unnamed is None else set(unnamed.places)
    named = frame[columns.path].iloc[[place for place in range(len(rows)) if place not in gone]]
    paths, rows = named.tolist(), list(named.index)
    try:
        check_pictures(paths, root=columns.root, rows=rows, column=columns.path, lost=lambda _missing: lost)
    except InputError as error:
        yield str(error)
