"""Data sets from pandas tables: a list of images if there is a column of paths, rows of features otherwise."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from onepeak._core.files import expanded
from onepeak._core.imports import Column, Frame, require
from onepeak._core.wording import counted, listed
from onepeak.data.images.folder import find_images, image_files
from onepeak.data.manifest import FeatureRows, Items, Manifest, group_note
from onepeak.data.order import Order, read_labels
from onepeak.data.tables.cells import as_names
from onepeak.data.tables.columns import LABEL, PATH, Columns, columns_of, group_faults, group_names, likely_groups
from onepeak.data.tables.encode import cell_fault, encode_features, encode_like, feature_faults, odd_values
from onepeak.data.tables.faults import Fault, refuse_lost, rows_without
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
        order: Names of the classes, lowest first; see `onepeak.data.order.Order`.
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
        found, take = images(part, columns, root=expanded("." if root is None else root))
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


Take: TypeAlias = Callable[[list[int]], tuple[Items, tuple[str, ...]]]
"""Maps the positions of the rows without a fault to their items and notes."""


def images(frame: Frame, columns: Columns, *, root: Path) -> tuple[list[Fault], Take]:
    """Finds the images that a column names."""
    assert columns.path is not None
    written = frame[columns.path].tolist()
    found, faults = find_images(written, root=root, rows=list(frame.index), column=columns.path)

    def take(kept: list[int]) -> tuple[Items, tuple[str, ...]]:
        paths = [path for place in kept if (path := found[place]) is not None]
        items, notes = image_files(paths, root=root, written=[written[place] for place in kept])
        if columns.others:
            notes = (*notes, f"left out {counted(len(columns.others), 'column')} of the list: {listed(columns.others)}")
        if columns.group is None:
            notes = (*notes, *likely_groups(frame[list(columns.others)].iloc[kept]))
        return items, notes

    return faults, take


def features(
    frame: Frame, columns: Columns, *, category: Sequence[str], places: Sequence[int]
) -> tuple[list[Fault], Take]:
    """Encodes the columns that are neither labels nor groups as features.

    Args:
        frame: Some rows of a table.
        columns: The roles of its columns.
        category: Features that hold names.
        places: The positions of the rows in the table.
    """
    infer = require("pandas", extra="data", purpose="A table").api.types.infer_dtype
    own = frame[list(columns.others)].copy()
    for name in columns.others:
        if name in category or infer(own[name]) in ("datetime64", "datetime", "date"):  # dates become text, as in a CSV
            own[name] = as_names(frame[name])
    faults = feature_faults(own.drop(columns=list(category)))

    def take(kept: list[int]) -> tuple[Items, tuple[str, ...]]:
        used = own.iloc[kept]
        items, notes = encode_features(used, places=[places[i] for i in kept], named=category)
        if columns.group is None:
            notes = (*notes, *likely_groups(used))
        return items, notes

    return faults, take


def known_features(frame: Frame, like: FeatureRows) -> tuple[list[Fault], Take]:
    """Encodes features with the columns and codes of other rows."""
    rows, notes, wrong = encode_like(frame, columns=like.columns, categories=like.categories)
    faults = [cell_fault(frame[name], cells) for name, cells in wrong.items()]

    def take(kept: list[int]) -> tuple[Items, tuple[str, ...]]:
        items = rows.take(kept)
        return items, (*notes, *odd_values(items))

    return faults, take
