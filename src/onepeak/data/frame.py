"""A pandas table: a list of pictures if it has a column of paths, rows of features otherwise."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from onepeak._extras import require
from onepeak._listing import counted, listed
from onepeak.data.declared_order import Order
from onepeak.data.faults import Fault, refuse_lost
from onepeak.data.feature_notes import odd_values, telling_names
from onepeak.data.features import as_names, encode_features, encode_like
from onepeak.data.frame_columns import LABEL, PATH, Columns, columns_of
from onepeak.data.frame_rows import cell_fault, lost_by, plain, usable_rows
from onepeak.data.frame_types import Frame
from onepeak.data.groups import group_names, likely_groups
from onepeak.data.known_cells import known_cells
from onepeak.data.manifest import FeatureRows, ImageFiles, Items, Manifest
from onepeak.data.order import order_labels
from onepeak.data.picture_list import check_pictures
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
    missing values as NaN. What was chosen is in `notes`. What is wrong with cells is told all at once.

    Args:
        frame: The table.
        label: The column of labels. An ordered categorical brings its own order.
        order: Names of the classes, lowest first; see `onepeak.data.declared_order.Order`.
        group: The column of groups (person, patient, slide); `group` if there is one.
        path: The column of pictures' paths; `path` if there is one.
        category: Columns of features that hold names, though they may be written in digits.
        drop: Columns that are not read, such as an id.
        root: For pictures: the folder the paths start from, the current one by default.
        skip_bad: Whether to leave out, with a note, rows with a cell that cannot be used (no label, one that the order
            lacks, no group, an infinite number), as long as they are not more than half, and pictures that do not
            exist.
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
    columns = columns_of(
        frame,
        label=label,
        order=order,
        group=group,
        path=path,
        category=category,
        drop=drop,
        root=root,
        read_as="" if like is None else "rows that are read as others are",
    )
    keep_classes = keep_classes and like is None
    features, numbers, wrong = _named(frame, columns) if like is None else _as_known(frame, columns, like)
    rows, left_out = usable_rows(
        frame, features[numbers], columns, known=(*faults, *wrong), skip_bad=skip_bad, keep_classes=keep_classes
    )
    used = frame.iloc[rows]
    items: Items
    if columns.path is None:
        items, notes = _encoded(features.iloc[rows], rows, columns, like)
        if root is not None:  # told last: a list whose paths are taken for features says so before
            raise InputError(f"`root` has no use for a table of features (it has no column `{PATH}`): leave it out.")
    else:
        items, kept, notes = _pictures(used, columns, columns.path, skip_bad=skip_bad, keep_classes=keep_classes)
        if keep_classes:
            refuse_lost(lost_by(used, columns, set(range(len(used))).difference(kept)), (*left_out, *notes[:1]))
        used = used.iloc[kept]
    ordered = order_labels(plain(used[label]), order=columns.order, source=columns.source, rows=list(used.index))
    if like is None and isinstance(items, FeatureRows):
        notes = (*notes, *telling_names(items, ordered.labels))
    groups = None if columns.group is None else tuple(group_names(used[columns.group]))
    grouped = () if groups is None else (f"{counted(len(set(groups)), 'group')} from the column {columns.group!r}",)
    return Manifest(
        name=name,
        items=items,
        labels=ordered.labels,
        classes=ordered.classes,
        groups=groups,
        rows=tuple(used.index.tolist()),
        label_column=label,
        group_column=columns.group,
        path_column=columns.path,
        num_left_out=len(frame) - len(used),
        notes=(*left_out, *ordered.notes, *notes, *grouped),
    )


def _named(frame: Frame, columns: Columns) -> tuple[Frame, list[str], list[Fault]]:
    """The features with those as names that hold names, which of them are numbers, and no fault as yet."""
    features = frame[list(columns.others)]
    if columns.category:
        features = features.copy()
        for column in columns.category:
            features[column] = as_names(frame[column])
    return features, [column for column in columns.others if column not in columns.category], []


def _as_known(frame: Frame, columns: Columns, like: FeatureRows) -> tuple[Frame, list[str], list[Fault]]:
    """The features that other rows have, which of them are numbers there, and what is wrong with their cells."""
    if columns.path is not None:
        raise InputError(
            f"`like` is for a table of features, and the column {columns.path!r} names pictures: leave it out."
        )
    features, wrong = known_cells(frame, columns=like.columns, categories=like.categories)
    numbers = [column for column in like.columns if column not in like.categories]
    return features, numbers, [cell_fault(frame[column], cells) for column, cells in wrong.items()]


def _encoded(
    features: Frame, rows: list[int], columns: Columns, like: FeatureRows | None
) -> tuple[FeatureRows, tuple[str, ...]]:
    if like is None:
        return encode_features(features, places=rows, named=columns.category)
    items, notes = encode_like(features, columns=like.columns, categories=like.categories)
    return items, (*notes, *odd_values(items))


def _pictures(
    frame: Frame, columns: Columns, path: str, *, skip_bad: bool, keep_classes: bool
) -> tuple[ImageFiles, list[int], tuple[str, ...]]:
    """The pictures, the places of their rows, and notes: on those that are missing first."""
    items, kept, notes = check_pictures(
        frame[path].tolist(),
        root=columns.root,
        rows=list(frame.index),
        skip_bad=skip_bad,
        column=path,
        lost=partial(lost_by, frame, columns) if keep_classes else None,
    )
    unread = [column for column in columns.others if column != path]
    if unread:
        notes = (*notes, f"left out {counted(len(unread), 'column')} of the list: {listed(unread)}")
        if columns.group is None:
            notes = (*notes, *likely_groups(frame[unread].iloc[kept]))
    return items, kept, notes
