"""Data sets from pandas tables: a list of images if there is a column of paths, rows of features otherwise."""

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
    """Makes a data set from a pandas DataFrame.

    With a column of paths the rows are images (path, label, group; other columns are left out). Otherwise every column
    except label and group is a feature: numbers as float64, booleans as 0 and 1, text and categories as codes, missing
    values as NaN. The manifest's `notes` list these choices. Faulty cells are reported all at once.

    Args:
        frame: The table.
        label: The column of labels. An ordered categorical column defines its own order.
        order: Names of the classes, lowest first; see `onepeak.data.declared_order.Order`.
        group: The column of groups (person, patient, slide); by default `group`, if there is one.
        path: The column of image paths; by default `path`, if there is one.
        category: Feature columns that hold names, even if these are written in digits.
        drop: Columns to ignore, such as an id.
        root: For images: the folder that the paths are relative to, by default the current one.
        skip_bad: Whether to leave out, with a note, rows that cannot be used (no label, a label not in the order, no
            group, an infinite number, an image that does not exist), if they are at most half of the rows.
        like: For features: rows whose columns and codes to use, such as those of a training table. Other columns are
            ignored, and names without a code become missing values.
        keep_classes: Whether to raise an error if all items of a class would be left out. Ignored with `like`, whose
            rows define the classes.
        faults: Faults that are already known, such as those found while reading the file.
        name: The name of the data set.

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
        raise InputError("The table must have at least one row, got none.")
    read_as = "" if like is None else "rows that are read with `like`"
    columns = columns_of(frame, label=label, group=group, path=path, category=category, drop=drop, read_as=read_as)
    if like is not None and columns.path is not None:
        raise InputError(
            f"`like` is for a table of features, but the column {columns.path!r} names images: leave it out."
        )
    source = ""
    if order is None and getattr(frame[label].dtype, "ordered", False):
        order, source = [str(name) for name in frame[label].cat.categories], "the column's categories"

    unread = {place for fault in faults if fault.unread for place in fault.places}
    read = [place for place in range(len(frame)) if place not in unread]
    part = frame.iloc[read]
    if columns.path is not None:
        faults = [fault for fault in faults if fault.unread]  # the other columns of a list are not read
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
    assert ordered is not None  # otherwise there is a fault

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
    """Returns the values as Python objects, None for missing values of any type."""
    return [None if gone else value for value, gone in zip(column.tolist(), column.isna(), strict=True)]
