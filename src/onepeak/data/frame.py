"""A pandas table: a list of pictures if it has a column of paths, rows of features otherwise."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from onepeak._extras import require
from onepeak._home import expanded
from onepeak.data.declared_order import Order
from onepeak.data.faults import Fault, refuse_lost, rows_without
from onepeak.data.frame_columns import LABEL, PATH, columns_of
from onepeak.data.frame_items import features, known_features, pictures
from onepeak.data.frame_types import Column, Frame
from onepeak.data.groups import group_faults, group_names
from onepeak.data.manifest import FeatureRows, Manifest, group_note
from onepeak.data.order import read_labels
from onepeak.errors import InputError


def from_frame(
    frame: Frame,
    *,
    label: str = LABEL,
    order: Order | None = None,
    group: str | None = None,
    path: str | None = None,
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    root: str | Path | None = None,
    skip_bad: bool = False,
    like: FeatureRows | None = None,
    keep_classes: bool = True,
    faults: Sequence[Fault] = (),
    name: str = "frame",
) -> Manifest:
    """Makes a data set of a pandas DataFrame.

    With a column of paths the rows are pictures (path, label, group; other columns are left out). Without one every
    column but label and group is a feature: numbers as float64, booleans as 0 and 1, text and categories as codes,
    missing values as NaN. What was chosen is in `notes`. What is wrong with cells is reported all at once.

    Args:
        frame: The table.
        label: The column of labels. An ordered categorical brings its own order.
        order: Names of the classes, lowest first; see `onepeak.data.declared_order.Order`.
        group: The column of groups (person, patient, slide); `group` if there is one.
        path: The column of pictures' paths; `path` if there is one.
        category: Columns of features that hold names, though they may be written in digits.
        drop: Columns that are not read, such as an id.
        root: For pictures: the folder the paths start from, the current one by default.
        skip_bad: Whether to leave out, with a note, rows that cannot be used (no label, one that the order lacks, no
            group, an infinite number, a picture that does not exist), as long as they are not more than half.
        like: For features: rows whose columns and codes to take, such as those of a training table. No other column
            is read, and a name that has no code there is missing.
        keep_classes: Whether it is refused to leave out all items of a class. With `like` it is not: the classes are
            those of the other rows.
        faults: What is known already to be wrong with some rows, such as from their file.
        name: What the data set is called.

    Example:
        >>> import pandas
        >>> table = pandas.DataFrame({"size": [1.0, 2.5, None], "grade": ["low", "high", "low"]})
        >>> data = from_frame(table, label="grade", order="low,high")
        >>> data.items.values.tolist(), data.labels
        ([[1.0], [2.5], [nan]], array([0, 1, 0]))
    """
    pandas = require("pandas", extra="data", purpose="A table")
    if not isinstance(frame, pandas.DataFrame):
        raise InputError(f"`frame` must be a pandas DataFrame, got {type(frame).__name__}.")
    if not len(frame):
        raise InputError("The table must have rows, it has none.")
    read_as = "" if like is None else "rows that are read as others are"
    columns = columns_of(frame, label=label, group=group, path=path, category=category, drop=drop, read_as=read_as)
    if like is not None and columns.path is not None:
        raise InputError(
            f"`like` is for a table of features, and the column {columns.path!r} names pictures: leave it out."
        )
    source = ""
    if order is None and getattr(frame[label].dtype, "ordered", False):
        order, source = [str(name) for name in frame[label].cat.categories], "the column's categories"

    unread = {place for fault in faults if fault.unread for place in fault.places}
    read = [place for place in range(len(frame)) if place not in unread]
    part = frame.iloc[read]
    if columns.path is not None:
        faults = [fault for fault in faults if fault.unread]  # no other column of a list is read
        found, take = pictures(part, columns, root=expanded("." if root is None else root))
    elif like is not None:
        found, take = known_features(part, like)
    else:
        found, take = features(part, columns, category=category, places=read)
    ordered, wrong = read_labels(_plain(part[label]), order=order, source=source, rows=list(part.index))
    found += wrong
    if columns.group is not None:
        found += group_faults(part[columns.group])
    found = [replace(fault, places=tuple(read[place] for place in fault.places)) for fault in found]
    rows, left_out = rows_without([*faults, *found], rows=list(frame.index), skip_bad=skip_bad)
    assert ordered is not None  # else there is a fault

    kept = np.flatnonzero(np.isin(read, rows)).tolist()
    labels = ordered.labels[kept]
    if keep_classes and like is None:
        lost = set(ordered.labels.tolist()).difference(labels.tolist(), [-1])
        refuse_lost([ordered.classes[place] for place in sorted(lost)], left_out)
    items, notes = take(kept)
    if isinstance(items, FeatureRows) and root is not None:
        raise InputError(f"`root` has no use for a table of features (it has no column `{PATH}`): leave it out.")
    used = part.iloc[kept]
    groups = None if columns.group is None else tuple(group_names(used[columns.group]))
    return Manifest(
        name=name,
        items=items,
        labels=labels,
        classes=ordered.classes,
        groups=groups,
        rows=tuple(used.index.tolist()),
        label_column=label,
        group_column=columns.group,
        path_column=columns.path,
        num_left_out=len(frame) - len(used),
        notes=(*left_out, *ordered.notes, *notes, *group_note(groups, columns.group)),
    )


def _plain(column: Column) -> Sequence[object]:
    """The values as Python objects, None where missing whatever the column's type."""
    return [None if gone else value for value, gone in zip(column.tolist(), column.isna(), strict=True)]
