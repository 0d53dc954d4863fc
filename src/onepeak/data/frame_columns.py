"""What the columns of a table are for: labels, groups, paths of pictures, features."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onepeak._home import expanded
from onepeak._listing import listed
from onepeak._registry import unknown_name
from onepeak.data.declared_order import Order
from onepeak.data.frame_types import Column, Frame
from onepeak.data.named_columns import check_named
from onepeak.errors import InputError

PATH = "path"
LABEL = "label"
GROUP = "group"


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a table by their use."""

    label: str
    order: Order | None
    source: str
    """Where the order stands, if not in the argument or its file."""
    group: str | None
    path: str | None
    """None for a table of features."""
    root: Path
    """Of the pictures."""
    others: tuple[str, ...]
    """All but the labels and the groups: features, or the paths and what is not read beside them."""
    category: tuple[str, ...]
    """The features that are said to hold names."""


def columns_of(
    frame: Frame,
    *,
    label: str,
    order: Order | None,
    group: str | None,
    path: str | None,
    category: Sequence[str],
    drop: Sequence[str],
    root: str | Path | None,
    read_as: str,
) -> Columns:
    """Checks what is said of the columns, and finds what is not.

    Args:
        frame: The table; see `onepeak.data.from_frame`, as for the others.
        label: The column of labels.
        order: Names of the classes.
        group: The column of groups.
        path: The column of pictures' paths.
        category: Columns that hold names.
        drop: Columns that are not read.
        root: The folder of the pictures.
        read_as: What the rows are, if no column may be named; else empty.

    Example:
        >>> import pandas
        >>> table = pandas.DataFrame(columns=["size", "grade", "group"])
        >>> told = {"order": None, "path": None, "category": (), "drop": (), "root": None, "read_as": ""}
        >>> columns_of(table, label="grade", group=None, **told).others
        ('size',)
    """
    _check_names(frame)
    _find(frame, "label", label)
    taken: dict[str | None, str] = {label: "the column of labels", group: "the column of groups"}
    check_named(frame, "drop", drop, taken=taken | {path: "the column of pictures"}, unused=read_as)
    names = [column for column in frame.columns if column not in drop]
    if group is None and GROUP in names and label != GROUP:
        group = GROUP
    if group is not None:
        _find(frame, "group", group)
    others = tuple(column for column in names if column not in (label, group))
    path = _path(frame, path, others)
    if path is not None:
        read_as = "a list of pictures"
        check_named(frame, "drop", drop, taken={}, unused=read_as)
    taken |= {group: "the column of groups"} | dict.fromkeys(drop, "which `drop` leaves out")
    check_named(frame, "category", category, taken=taken, unused=read_as)
    order, source = _order(frame[label], order)
    return Columns(
        label=label,
        order=order,
        source=source,
        group=group,
        path=path,
        root=expanded("." if root is None else root),
        others=others,
        category=tuple(category),
    )


def repeated(names: Sequence[str]) -> list[str]:
    """The names that are there more than once, sorted.

    Example:
        >>> repeated(["b", "a", "b"])
        ['b']
    """
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _check_names(frame: Frame) -> None:
    names = [str(column) for column in frame.columns]
    if twice := repeated(names):
        raise InputError(f"The columns of a table must have different names, got {listed(twice)} more than once.")
    if names != list(frame.columns):
        raise InputError("The columns of a table must be named by text: frame.columns = frame.columns.astype(str).")


def _find(frame: Frame, argument: str, column: str) -> None:
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
    _find(frame, "path", path)
    if path not in others:
        raise InputError(f"`path` (--path) must be another column than the labels and the groups, got {path!r}.")
    return path


def _order(labels: Column, order: Order | None) -> tuple[Order | None, str]:
    """The order and, where it is that of the column's own categories, what a message calls it."""
    if order is None and getattr(labels.dtype, "ordered", False):
        return [str(name) for name in labels.cat.categories], "the column's categories"
    return order, ""
