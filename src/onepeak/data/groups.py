"""The column of groups, such as patients: their names, rows without a group, and columns that may hold groups."""

import re
import shlex
from collections.abc import Iterator

from onepeak._extras import require
from onepeak._listing import counted, listed
from onepeak.data.faults import FEW, Fault
from onepeak.data.features import is_date
from onepeak.data.frame_types import Column, Frame

_LIKE_A_GROUP = re.compile(
    r"(patient|person|subject|customer|client|user|slide|case|study|(?=id))[\W_]*(id|nr|no|number|code|name)?", re.I
)
_AN_ID = re.compile(r".+([\W_][iI][dD]|[a-z]I[dD])")
_NAMES = 20
"""With fewer names a column may be any category."""
_ROWS_EACH = 20
"""With more rows per name on average a column may be any category, such as cities."""


def group_names(column: Column) -> list[str]:
    """Returns the group names as text, empty if missing.

    Example:
        >>> import pandas
        >>> group_names(pandas.Series([" p", None, "q"]))
        ['p', '', 'q']
    """
    return ["" if gone else str(value).strip() for value, gone in zip(column.tolist(), column.isna(), strict=True)]


def group_faults(column: Column) -> list[Fault]:
    """Describes rows without a group.

    Example:
        >>> import pandas
        >>> group_faults(pandas.Series(["p", ""], name="patient", index=[2, 3]))[0].sentence
        "Every row must have a group, 1 row has none in 'patient': 3"
    """
    missing = tuple(place for place, name in enumerate(group_names(column)) if not name)
    if not missing:
        return []
    where = listed((column.index[place] for place in missing), limit=FEW)
    return [
        Fault(
            places=missing,
            sentence=f"Every row must have a group, {counted(len(missing), 'row')} "
            f"{'has' if len(missing) == 1 else 'have'} none in {column.name!r}: {where}",
            advice="Give each row that belongs to no group a unique name",
            reason=f"no group in {column.name!r}",
        )
    ]


def likely_groups(frame: Frame) -> Iterator[str]:
    """Yields notes on columns that may hold groups: persons or things with several rows, which would leak.

    These are columns of 3 or more values with a telling name, and columns of text or ids with 20 or more different
    names and 2 to 20 rows per name on average.

    Args:
        frame: The columns that are neither labels, nor groups, nor paths.

    Example:
        >>> import pandas
        >>> print(*likely_groups(pandas.DataFrame({"who": [f"p{row // 3}" for row in range(90)]})))
        who: 30 names with 3 rows each; if these are persons or things that recur, keep their rows together with
        --group who
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
