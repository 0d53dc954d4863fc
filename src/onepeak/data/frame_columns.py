"""The roles of the columns of a table: labels, groups, image paths, features."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from onepeak._listing import listed
from onepeak._registry import unknown_name
from onepeak.data.frame_types import Frame
from onepeak.errors import InputError

PATH = "path"
LABEL = "label"
GROUP = "group"


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a table by role."""

    label: str
    group: str | None
    path: str | None
    """None for a table of features."""
    others: tuple[str, ...]
    """All other columns: features, or columns of a list of images that are not read."""


def columns_of(
    frame: Frame,
    *,
    label: str,
    group: str | None = None,
    path: str | None = None,
    category: Collection[str] = (),
    drop: Collection[str] = (),
    read_as: str = "",
) -> Columns:
    """Checks the roles given for the columns, and infers the others.

    Args:
        frame: The table; for this and the following see `onepeak.data.from_frame`.
        label: The column of labels.
        group: The column of groups.
        path: The column of image paths.
        category: Columns that hold names.
        drop: Columns to ignore.
        read_as: What the rows are, if `category` and `drop` do not apply to them; otherwise empty.

    Example:
        >>> import pandas
        >>> columns_of(pandas.DataFrame(columns=["size", "grade", "group"]), label="grade")
        Columns(label='grade', group='group', path=None, others=('size',))
    """
    _check_names(frame)
    _find(frame, "label", label)
    names = [column for column in frame.columns if column not in drop]
    if group is None and GROUP in names and label != GROUP:
        group = GROUP
    if path is None and PATH in names and PATH not in (label, group):
        path = PATH
    if group is not None:
        _find(frame, "group", group)
    if path is not None:
        _find(frame, "path", path)
        read_as = "a list of images"
    if path is not None and path in (label, group):
        raise InputError(f"`path` (--path) must not be the column of labels or of groups, got {path!r}.")
    uses: dict[str | None, str] = {label: "the column of labels", group: "the column of groups"}
    _check_features(frame, "drop", drop, taken=uses, read_as=read_as)
    uses |= dict.fromkeys(drop, "which `drop` leaves out")
    _check_features(frame, "category", category, taken=uses, read_as=read_as)
    others = tuple(column for column in names if column not in (label, group, path))
    return Columns(label=label, group=group, path=path, others=others)


def repeated(names: Sequence[str]) -> list[str]:
    """Returns the names that occur more than once, sorted.

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
        raise InputError("The column names of a table must be text: use frame.columns = frame.columns.astype(str).")


def _find(frame: Frame, argument: str, column: str) -> None:
    if column in frame.columns:
        return
    if argument == "label" and column == LABEL:  # the default, which few tables use
        raise InputError(
            "The column of labels must be named with `label` (--label COLUMN), because none is called 'label': "
            f"{listed(frame.columns)}."
        )
    error = unknown_name("column", column, list(frame.columns))
    raise InputError(f"{error} Name the column with `{argument}` (--{argument}).")


def _check_features(
    frame: Frame, argument: str, names: Collection[str], *, taken: Mapping[str | None, str], read_as: str
) -> None:
    """Raises an error for columns that are not features; `taken` maps columns with another role to that role."""
    if isinstance(names, str):
        raise InputError(f"`{argument}` must be a list of columns, got the text {names!r}: write [{names!r}].")
    if names and read_as:
        raise InputError(f"`{argument}` (--{argument}) has no use for {read_as}: leave it out.")
    must = f"`{argument}` (--{argument}) must name columns that are features"
    for name in names:
        if name in taken:
            raise InputError(f"{must}, got {name!r}, {taken[name]}.")
        if name not in frame.columns:
            others = [column for column in frame.columns if column not in taken]
            raise InputError(f"{unknown_name('column', name, others)} {must}.")
