"""The roles of the columns of a table: labels, groups, image paths, features."""

import fnmatch
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from onepeak._core.imports import Frame, require
from onepeak._core.registry import unknown_name
from onepeak._core.wording import counted, listed
from onepeak.data.tables.cells import present_text
from onepeak.data.tables.encode import is_date
from onepeak.data.tables.faults import Fault, shown_rows
from onepeak.errors import InputError

PATH = "path"
LABEL = "label"
GROUP = "group"


def roles_of(
    frame: Frame,
    *,
    label: str,
    group: str | None,
    path: str | None,
    text: str | None,
    columns: Collection[str],
    category: Collection[str],
    drop: Collection[str],
    read_as: str,
) -> tuple[str | None, str | None, list[str]]:
    """Checks the roles given for the columns (see `onepeak.data.from_frame`); returns the group, the path, the others.

    `read_as` says what the rows are if `category` and `drop` do not apply to them; otherwise it is empty.
    """
    names = [str(column) for column in frame.columns]
    if twice := repeated(names):
        raise InputError(f"The columns of a table must have different names, got {listed(twice)} more than once.")
    if names != list(frame.columns):
        raise InputError("The column names of a table must be text: use frame.columns = frame.columns.astype(str).")
    names = [name for name in names if name not in drop]
    if group is None and GROUP in names and label != GROUP:
        group = GROUP
    if path is None and text is None and PATH in names and PATH not in (label, group):
        path = PATH
    roles = {"label": label, "text": text, "group": group, "path": path}
    for argument, column in roles.items():
        if column is not None:
            _find(frame, argument, column)
    if path is not None:
        read_as = "a list of images"
        if path in (label, group):
            raise InputError(f"`path` must not be the column of labels or of groups, got {path!r}.", argument="path")
    taken = {label: "the column of labels", group: "the column of groups", text: "the column of texts"}
    _check_features(frame, "drop", drop, taken=taken, read_as=read_as)
    taken |= dict.fromkeys(drop, "which `drop` leaves out")
    _check_features(frame, "category", category, taken=taken, read_as=read_as)
    _check_features(frame, "columns", columns, taken=taken, read_as=read_as)
    return group, path, [name for name in (names if text is None else columns) if name not in (label, group, path)]


def one_label(frame: Frame, label: str) -> tuple[Frame, list[Fault], tuple[str, ...]]:
    """Joins columns of labels (`left,right`), one of which each row fills, into one column of that name."""
    names = label_columns(label, list(frame.columns))
    if len(names) == 1:
        return frame, [], ()
    for name in names:
        _find(frame, "label", name)
    cells = [[None if cell is None or present_text(str(cell)) is None else cell for cell in row]
             for row in frame[names].astype(object).itertuples(index=False, name=None)]  # fmt: skip
    filled = [[place for place, cell in enumerate(row) if cell is not None] for row in cells]
    joined = frame.drop(columns=names)
    joined[label] = [row[at[0]] if at else None for row, at in zip(cells, filled, strict=True)]
    several = [index for index, at in enumerate(filled) if len(at) > 1]
    where = shown_rows([frame.index[index] for index in several])
    counts = Counter(names[at[0]] for at in filled if at)
    fault = Fault(
        indices=tuple(several),
        sentence=f"Every row must fill one of the columns {listed(names)}, {counted(len(several), 'row')} with more "
        f"than one: {where}",
        advice="Empty the others, name one column with `label`, or give the columns of several raters as `raters`",
        reason=f"a label in more than one of {listed(names)}",
    )
    note = "labels from " + listed(f"{name} ({counted(counts[name], 'row')})" for name in names)
    return joined, [fault] if several else [], (note,)


def label_columns(label: str, columns: Collection[str]) -> list[str]:
    """Returns the columns of labels: one, or several with commas between them; `p_*` is all that begin so."""
    names = [label] if label in columns else [name.strip() for name in label.split(",")]
    return [column for name in names for column in ("*" in name and fnmatch.filter(columns, name)) or [name]]


def several_columns(frame: Frame, argument: str, text: str) -> list[str]:
    """Returns the columns of raters or of probabilities, of which there must be two."""
    names = label_columns(text, list(frame.columns))
    for name in names:
        _find(frame, argument, name)
    if len(names) < 2 or repeated(names):
        raise InputError(
            f"`{argument}` must name two columns or more, each once, got {text!r}. A single one is `label`.",
            argument=argument,
        )
    return names


def repeated(names: Sequence[str]) -> list[str]:
    """Returns the names that occur more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _find(frame: Frame, argument: str, column: str) -> None:
    if column in frame.columns:
        return
    if argument == "label" and column == LABEL:  # the default, which few tables use
        raise InputError(
            "The column of labels must be named with `label`, because none is called 'label': "
            f"{listed(frame.columns)}.",
            argument="label",
        )
    error = unknown_name("column", column, list(frame.columns))
    raise InputError(str(error), argument=argument, fix=f"Name the column with `{argument}`.")


def _check_features(
    frame: Frame, argument: str, names: Collection[str], *, taken: Mapping[str | None, str], read_as: str
) -> None:
    """Raises an error for columns that are not features; `taken` maps columns with another role to that role."""
    if isinstance(names, str):
        raise InputError(f"`{argument}` must be a list of columns, got the text {names!r}: write [{names!r}].")
    if names and read_as:
        raise InputError(f"`{argument}` does nothing for {read_as}: leave it out.", argument=argument)
    must = f"`{argument}` must name columns that are features"
    for name in names:
        if name in taken:
            raise InputError(f"{must}, got {name!r}, {taken[name]}.", argument=argument)
        if name not in frame.columns:
            others = [column for column in frame.columns if column not in taken]
            raise InputError(f"{unknown_name('column', name, others)} {must}.", argument=argument)


_LIKE_A_GROUP = re.compile(
    r"(patient|person|subject|customer|client|user|slide|case|study|(?=id))[\W_]*(id|nr|no|number|code|name)?", re.I
)
_AN_ID = re.compile(r".+([\W_][iI][dD]|[a-z]I[dD])")
_NAMES = 20
"""With fewer names a column may be any category."""
_ROWS_EACH = 20
"""With more rows per name on average a column may be any category, such as cities."""


def likely_groups(frame: Frame) -> Iterator[str]:
    """Yields notes on columns that may hold groups: persons or things with several rows, which would leak.

    These are columns of 3 or more values with a telling name, and columns of text or ids with 20 or more different
    names and 2 to 20 rows per name on average.
    """
    types = require("pandas", extra="data", purpose="A table").api.types
    for name in frame.columns:
        column = frame[name].dropna()
        called, kind = _LIKE_A_GROUP.fullmatch(name.strip()), types.infer_dtype(column)
        if kind == "mixed" or not (called or _AN_ID.fullmatch(name) or kind in ("string", "categorical")):
            continue  # lists and dictionaries are no names, and cannot be counted
        count, rows = column.nunique(), len(column)
        few_rows_each = count >= _NAMES and 2 * count <= rows <= _ROWS_EACH * count
        if (few_rows_each or (called and 2 < count < rows)) and not is_date(column):
            yield (
                f"{name}: {count:,} names with {round(rows / count, 1):g} rows each; if these are persons or things "
                f"that recur, keep their rows together with --group {shlex.quote(name)}"
            )
