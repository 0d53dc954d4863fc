"""Data to measure a model on: opened with the columns and the order that the model was trained with."""

from collections.abc import Collection
from pathlib import Path

import numpy as np

from onepeak._home import expanded
from onepeak._listing import listed
from onepeak.data.datasets import DATASETS
from onepeak.data.declared_order import Order, classes_file
from onepeak.data.frame_columns import PATH
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.open import open_data
from onepeak.data.table_file import Table, read_table
from onepeak.errors import InputError
from onepeak.serving.model import Model


def open_for(
    model: Model,
    data: str | Path,
    *,
    root: str | Path | None = None,
    order: Order | None = None,
    label: str | None = None,
    group: str | None = None,
    path: str | None = None,
    decimal: str | None = None,
    skip_bad: bool = False,
) -> Manifest:
    """Opens data as `onepeak.data.open_data` does; what is not said is taken from the model, where it fits.

    Of a table the columns that the model reads are read, and as `predict` reads them.

    Args:
        model: The model to be measured.
        data: See `open_data`, as for the others.
        root: Where a known set, or the pictures of a list, lie.
        order: The classes, lowest first; the model's where the data states none of its own.
        label: The column of labels; the one that the model was trained with, where the table has it.
        group: The column of groups; likewise.
        path: The column of pictures; likewise.
        decimal: "," where commas in the numbers of a CSV are decimal.
        skip_bad: Whether to leave out rows that cannot be used and pictures of a list that do not exist.
    """
    table = _table(data)
    columns = None if table is None else [str(name) for name in table.frame.columns]
    if columns is not None:
        label = label or _known(model.description.label, columns)
        group = group or _known(model.description.group, columns)
        path = path or _known(model.description.path, columns)
    if columns is not None or data in DATASETS or expanded(data).is_dir():
        pictures = columns is None or path is not None or PATH in columns
        if columns is not None and not pictures and model.description.table is None:
            raise InputError(
                "The data must be pictures, as the model was trained on, got a table without a column "
                f"`{model.description.path or PATH}`: {data} has {listed(columns)}. If one of them names pictures, say "
                "it with --path."
            )
        check_kind(model, pictures=pictures)
    taken = order if order is not None or _states_an_order(data, table) else model.classes
    try:
        return open_data(
            data,
            root=root,
            order=taken,
            label=label,
            group=group,
            path=path,
            decimal=decimal,
            skip_bad=skip_bad,
            like=_like(model),
            keep_classes=False,  # they are the model's, whatever the data hold
        )
    except InputError as error:
        if taken is order or "`order`" not in str(error):
            raise
        raise InputError(str(error).replace("`order`", "`order` (the model's, as none was given)", 1)) from error


def check_kind(model: Model, *, pictures: bool) -> None:
    """Refuses pictures for a model of a table, and the other way round."""
    if pictures == model.reads_tables:
        kinds = ("pictures", "rows of a table") if pictures else ("rows of a table", "pictures")
        raise InputError(f"The data must be {kinds[1]}, as the model was trained on, got {kinds[0]}.")


def check_rows(model: Model, rows: FeatureRows) -> None:
    """Refuses rows with other columns or other codes than the model reads: they would mean something else."""
    table = model.description.table
    if table is None or (rows.columns, rows.categories) != (table.columns, table.categories):
        raise InputError(
            "The rows must have the columns and codes that the model was trained with, got others: open their file "
            "with `onepeak.serving.opening.open_for(model, file)`."
        )


def _like(model: Model) -> FeatureRows | None:
    """No rows, with the columns and codes of the model; None for a model of pictures."""
    table = model.description.table
    if table is None:
        return None
    values = np.empty((0, len(table.columns)), dtype=np.float64)
    return FeatureRows(columns=table.columns, values=values, categories=table.categories)


def _table(data: str | Path) -> Table | None:
    """The table as it is written, if the data is one."""
    path = expanded(data)
    return None if data in DATASETS or not path.is_file() else read_table(path, as_text=None)


def _states_an_order(data: str | Path, table: Table | None) -> bool:
    """Whether the data says how its classes are ordered; integers, which order themselves, do not: 3 may be lowest."""
    path = expanded(data)
    beside = classes_file(path if path.is_dir() else path.parent)
    return data in DATASETS or beside is not None or (table is not None and table.order is not None)


def _known(name: str | None, columns: Collection[str]) -> str | None:
    return name if name in columns else None
