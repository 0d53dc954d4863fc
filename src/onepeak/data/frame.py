"""A pandas table: a list of pictures if it has a column of paths, rows of features otherwise."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from onepeak._extras import require
from onepeak._home import expanded
from onepeak._registry import unknown_name
from onepeak.data.decimal_commas import EITHER, SAY_SO
from onepeak.data.declared_order import Order
from onepeak.data.faults import CORRECT, FEW, Fault, refuse_lost, rows_without
from onepeak.data.feature_notes import odd_values
from onepeak.data.features import as_names, encode_features, encode_like, feature_faults
from onepeak.data.frame_types import Column, Frame
from onepeak.data.groups import group_faults, group_names, likely_groups
from onepeak.data.known_cells import known_cells
from onepeak.data.listing import counted, listed
from onepeak.data.manifest import FeatureRows, Items, Manifest
from onepeak.data.named_columns import check_named
from onepeak.data.order import label_faults, lost_classes, order_labels
from onepeak.data.picture_list import check_pictures, missing_pictures, unnamed_pictures
from onepeak.errors import InputError

PATH = "path"
LABEL = "label"
GROUP = "group"


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
    _check_columns(frame)
    if not len(frame):
        raise InputError("The table must have rows, it has none.")
    _column(frame, "label", label)
    read_as = "" if like is None else "rows that are read as others are"
    taken: dict[str | None, str] = {label: "the column of labels", group: "the column of groups"}
    check_named(frame, "drop", drop, taken=taken | {path: "the column of pictures"}, unused=read_as)
    frame = frame.drop(columns=list(drop))
    if group is None and GROUP in frame.columns and label != GROUP:
        group = GROUP
    if group is not None:
        _column(frame, "group", group)
    others = [column for column in frame.columns if column not in (label, group)]
    path = _path(frame, path, others)
    order, source = _order(frame[label], order)
    folder = expanded("." if root is None else root)
    columns = _Columns(label=label, order=order, source=source, group=group, path=path, root=folder)
    if path is not None:
        read_as = "a list of pictures"
        check_named(frame, "drop", drop, taken={}, unused=read_as)
    taken |= {group: "the column of groups"} | dict.fromkeys(drop, "which `drop` leaves out")
    check_named(frame, "category", category, taken=taken, unused=read_as)
    features = frame[others]
    if category:
        features = features.copy()
        for column in category:
            features[column] = as_names(frame[column])
    numbers = [column for column in others if column not in category]
    if like is not None:
        _refuse_pictures(path)
        features, wrong = known_cells(frame, columns=like.columns, categories=like.categories)
        numbers = [column for column in like.columns if column not in like.categories]
        faults = (*faults, *(_cell_fault(frame[column], cells) for column, cells in wrong.items()))
    num_rows = len(frame)
    faults = _faults(frame, features[numbers], columns, faults)
    keep_classes = keep_classes and like is None
    bad = {place for fault in faults for place in fault.places}
    if bad and path is not None and not skip_bad:  # then the flag would leave these out too
        bad.update(missing_pictures(frame[path].tolist(), root=folder))
    lost = _lost(frame, columns, bad) if keep_classes else {}
    also = _also_wrong(frame, columns, lost)
    rows, left_out = rows_without(faults, rows=list(frame.index), skip_bad=skip_bad, lost=lost, also=also)
    frame = frame.iloc[rows]
    items: Items
    if path is not None:
        items, kept, notes = check_pictures(
            frame[path].tolist(),
            root=folder,
            rows=list(frame.index),
            skip_bad=skip_bad,
            column=path,
            lost=partial(_lost, frame, columns) if keep_classes else None,
        )
        if keep_classes:
            refuse_lost(_lost(frame, columns, set(range(len(frame))).difference(kept)), (*left_out, *notes[:1]))
        frame = frame.iloc[kept]
        if len(others) > 1:
            unread = [column for column in others if column != path]
            notes = (*notes, f"left out {counted(len(unread), 'column')} of the list: {listed(unread)}")
            if group is None:
                notes = (*notes, *likely_groups(frame[unread]))
    else:
        if like is None:
            items, notes = encode_features(features.iloc[rows], places=rows, named=category)
        else:
            items, notes = encode_like(features.iloc[rows], columns=like.columns, categories=like.categories)
            notes = (*notes, *odd_values(items))
        if root is not None:
            raise InputError(f"`root` has no use for a table of features (it has no column `{PATH}`): leave it out.")
    ordered = order_labels(_plain(frame[label]), order=order, source=source, rows=list(frame.index))
    groups = None if group is None else tuple(group_names(frame[group]))
    grouped = () if groups is None else (f"{counted(len(set(groups)), 'group')} from the column {group!r}",)
    return Manifest(
        name=name,
        items=items,
        labels=ordered.labels,
        classes=ordered.classes,
        groups=groups,
        rows=tuple(frame.index.tolist()),
        label_column=label,
        group_column=group,
        path_column=path,
        num_left_out=num_rows - len(frame),
        notes=(*left_out, *ordered.notes, *notes, *grouped),
    )


def _check_columns(frame: Frame) -> None:
    names = [str(column) for column in frame.columns]
    twice = sorted({column for column in names if names.count(column) > 1})
    if twice:
        raise InputError(f"The columns of a table must have different names, got {listed(twice)} more than once.")
    if names != list(frame.columns):
        raise InputError("The columns of a table must be named by text: frame.columns = frame.columns.astype(str).")


def _column(frame: Frame, argument: str, column: str) -> None:
    if column in frame.columns:
        return
    if argument == "label" and column == LABEL:  # nobody named it: most tables call it something else
        raise InputError(
            "Which column holds the labels must be said with `label` (--label COLUMN), as none is called 'label': "
            f"{listed(frame.columns)}."
        )
    error = unknown_name("column", column, list(frame.columns))
    raise InputError(f"{error} Name the column with `{argument}` (--{argument}).")


def _path(frame: Frame, path: str | None, others: Sequence[str]) -> str | None:
    """The column of pictures; None where the table has none."""
    if path is None:
        return PATH if PATH in others else None
    _column(frame, "path", path)
    if path not in others:
        raise InputError(f"`path` (--path) must be another column than the labels and the groups, got {path!r}.")
    return path


def _refuse_pictures(path: str | None) -> None:
    if path is not None:
        raise InputError(f"`like` is for a table of features, and the column {path!r} names pictures: leave it out.")


def _cell_fault(column: Column, wrong: Iterable[int]) -> Fault:
    places = tuple(sorted(wrong))
    cells = listed((f"{column.iloc[place]!r} (row {column.index[place]})" for place in places), limit=FEW)
    either = any(EITHER.fullmatch(str(column.iloc[place]).strip()) for place in places)
    has = f"{counted(len(places), 'row')} {'has' if len(places) == 1 else 'have'} none"
    return Fault(
        places=places,
        sentence=f"The column {column.name!r} must be finite numbers that fit into float32, {has}: {cells}",
        advice=f"{CORRECT}, or of a CSV {SAY_SO}" if either else CORRECT,
        reason=f"no usable number in {column.name!r}",
    )


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """What the columns of a table are for."""

    label: str
    order: Order | None
    source: str
    """Where the order stands, if not in the argument or its file."""
    group: str | None
    path: str | None
    root: Path
    """Of the pictures."""


def _faults(frame: Frame, features: Frame, columns: _Columns, known: Sequence[Fault]) -> list[Fault]:
    """All that is wrong with rows, those first that are known from the file; their other cells are no fault.

    Args:
        frame: The table.
        features: Its columns that are features whose cells may be at fault; not looked at where there are pictures.
        columns: What the others are for.
        known: From the file.
    """
    unread = {row for fault in known if fault.unread for row in fault.places}
    read = [row for row in range(len(frame)) if row not in unread]
    part = frame.iloc[read]
    rows = list(part.index)
    found = label_faults(_plain(part[columns.label]), rows=rows, order=columns.order, source=columns.source)
    if columns.group is not None:
        found += group_faults(part[columns.group])
    if columns.path is None:
        found = [*feature_faults(features.iloc[read]), *found]
    else:
        known = [fault for fault in known if fault.unread]  # no other column of a list is read
        unnamed = unnamed_pictures(part[columns.path].tolist(), rows=rows, column=columns.path)
        found = found if unnamed is None else [unnamed, *found]
    return [*known, *(replace(fault, places=tuple(read[place] for place in fault.places)) for fault in found)]


def _also_wrong(frame: Frame, columns: _Columns, lost: Mapping[str, str]) -> Iterator[str]:
    """What else is wrong with labels and pictures, beside single cells; `lost` is that of `rows_without`."""
    labels, rows = _plain(frame[columns.label]), list(frame.index)
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


def _lost(frame: Frame, columns: _Columns, left_out: Collection[int]) -> dict[str, str]:
    """See `lost_classes`, which is not asked of a table that is whole: it looks at every label."""
    return lost_classes(_plain(frame[columns.label]), left_out=left_out, order=columns.order) if left_out else {}


def _order(labels: Column, order: Order | None) -> tuple[Order | None, str]:
    """The order and, where it is that of the column's own categories, what a message calls it."""
    if order is None and getattr(labels.dtype, "ordered", False):
        return [str(name) for name in labels.cat.categories], "the column's categories"
    return order, ""


def _plain(column: Column) -> Sequence[object]:
    """The values as Python objects, None where missing whatever the column's type."""
    return [None if gone else value for value, gone in zip(column.tolist(), column.isna(), strict=True)]
