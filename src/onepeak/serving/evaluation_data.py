"""Opens data to evaluate a model on, with the columns and class order that the model was trained with."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from onepeak._core.files import expanded
from onepeak._core.wording import listed
from onepeak.data.datasets import DATASETS
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.order import classes_file
from onepeak.data.source import DataSource
from onepeak.data.tables.columns import PATH
from onepeak.data.tables.read import Table
from onepeak.errors import InputError
from onepeak.serving.model import Model


def open_for(model: Model, source: DataSource) -> Manifest:
    """Opens data to evaluate a model on; settings left out are taken from the model where they fit.

    From a table, only the model's columns are read, in the same way as by `predict`.

    Args:
        model: The model to evaluate.
        source: The data. Without an order, the classes are the model's, if the data state no order; the columns of
            labels, groups and image paths are by default those of the training, if the table has them.
    """
    table = source.table()
    columns = None if table is None else [str(name) for name in table.frame.columns]
    if columns is not None:
        trained = model.description
        source = replace(
            source,
            label=source.label or _known(trained.label, columns),
            group=source.group or _known(trained.group, columns),
            path=source.path or _known(trained.path, columns),
        )
    if columns is not None or source.is_known or expanded(source.data).is_dir():
        images = columns is None or source.path is not None or PATH in columns
        if columns is not None and not images and model.description.table is None:
            raise InputError(
                "The data must be images, as the model was trained on, got a table without a column "
                f"`{model.description.path or PATH}`: {source.data} has {listed(columns)}. If one of them names the "
                "images, name it with --path."
            )
        check_kind(model, images=images)
    order_is_the_models = source.order is None and not _states_an_order(source.data, table)
    if order_is_the_models:
        source = replace(source, order=model.classes)
    try:
        # the classes are the model's, whatever the data hold
        return source.open(like=_like(model), keep_classes=False, table=table)
    except InputError as error:
        if not order_is_the_models or "`order`" not in error.message:
            raise
        fix = f"{error.fix} The order is the model's, because `order` was not given.".lstrip()
        raise InputError(error.message, argument="order", fix=fix, file=error.file, page=error.page) from error


def check_kind(model: Model, *, images: bool) -> None:
    """Refuses images for a table model, and rows for an image model."""
    if images == model.reads_tables:
        kinds = ("images", "rows of a table") if images else ("rows of a table", "images")
        raise InputError(f"The data must be {kinds[1]}, as the model was trained on, got {kinds[0]}.")


def check_rows(model: Model, rows: FeatureRows) -> None:
    """Refuses rows whose columns or codes differ from the model's: they would mean something else."""
    table = model.description.table
    if table is None or (rows.columns, rows.categories) != (table.columns, table.categories):
        raise InputError(
            "The rows must have the columns and codes that the model was trained with, got others: open their file "
            "with `onepeak.serving.evaluation_data.open_for(model, DataSource(file))`."
        )


def _like(model: Model) -> FeatureRows | None:
    """An empty table with the model's columns and codes; None for an image model."""
    table = model.description.table
    if table is None:
        return None
    values = np.empty((0, len(table.columns)), dtype=np.float64)
    return FeatureRows(columns=table.columns, values=values, categories=table.categories)


def _states_an_order(data: str | Path, table: Table | None) -> bool:
    """Whether the data states the order of its classes. Integers do not: the highest may mean the lowest class."""
    path = expanded(data)
    beside = classes_file(path if path.is_dir() else path.parent)
    return data in DATASETS or beside is not None or (table is not None and table.order is not None)


def _known(name: str | None, columns: Collection[str]) -> str | None:
    return name if name in columns else None
