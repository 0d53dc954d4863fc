"""Opens data to evaluate a model on, with the columns and class order that the model was trained with."""

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
    """Opens data as `onepeak.data.open_data` does; settings left out are taken from the model where they fit.

    From a table, only the model's columns are read, in the same way as by `predict`.

    Args:
        model: The model to evaluate.
        data: See `open_data`, also for the other arguments.
        root: The folder of a known data set, or of the images of a list.
        order: The classes, lowest first; by default the model's, if the data states no order.
        label: The label column; by default the one the model was trained with, if the table has it.
        group: The group column; likewise.
        path: The image path column; likewise.
        decimal: "," if commas in the numbers of a CSV are decimal commas.
        skip_bad: Whether to leave out rows that cannot be used and listed images that do not exist.
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
                "The data must be images, as the model was trained on, got a table without a column "
                f"`{model.description.path or PATH}`: {data} has {listed(columns)}. If one of them names the images, "
                "name it with --path."
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
            keep_classes=False,  # the classes are the model's, whatever the data holds
        )
    except InputError as error:
        if taken is order or "`order`" not in str(error):
            raise
        raise InputError(str(error).replace("`order`", "`order` (the model's, as none was given)", 1)) from error


def check_kind(model: Model, *, pictures: bool) -> None:
    """Refuses images for a table model, and rows for an image model."""
    if pictures == model.reads_tables:
        kinds = ("images", "rows of a table") if pictures else ("rows of a table", "images")
        raise InputError(f"The data must be {kinds[1]}, as the model was trained on, got {kinds[0]}.")


def check_rows(model: Model, rows: FeatureRows) -> None:
    """Refuses rows whose columns or codes differ from the model's: they would mean something else."""
    table = model.description.table
    if table is None or (rows.columns, rows.categories) != (table.columns, table.categories):
        raise InputError(
            "The rows must have the columns and codes that the model was trained with, got others: open their file "
            "with `onepeak.serving.opening.open_for(model, file)`."
        )


def _like(model: Model) -> FeatureRows | None:
    """An empty table with the model's columns and codes; None for an image model."""
    table = model.description.table
    if table is None:
        return None
    values = np.empty((0, len(table.columns)), dtype=np.float64)
    return FeatureRows(columns=table.columns, values=values, categories=table.categories)


def _table(data: str | Path) -> Table | None:
    """The table as written in the file, if the data is a table."""
    path = expanded(data)
    return None if data in DATASETS or not path.is_file() else read_table(path, as_text=None)


def _states_an_order(data: str | Path, table: Table | None) -> bool:
    """Whether the data states the order of its classes. Integers do not: the highest may mean the lowest class."""
    path = expanded(data)
    beside = classes_file(path if path.is_dir() else path.parent)
    return data in DATASETS or beside is not None or (table is not None and table.order is not None)


def _known(name: str | None, columns: Collection[str]) -> str | None:
    return name if name in columns else None
