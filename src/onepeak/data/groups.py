"""The column of groups, such as patients: their names, rows without one, and columns that look like it."""

import re
import shlex
from collections.abc import Collection, Iterator

from onepeak._listing import counted, listed
from onepeak.data.faults import FEW, Fault
from onepeak.data.frame_types import Column, Frame

_LIKE_A_GROUP = re.compile(r"(patient|person|subject|slide|case|study|(?=id))[\W_]*(id|nr|no|number|code|name)?", re.I)


def group_names(column: Column) -> list[str]:
    """The names as text, empty where missing.

    Example:
        >>> import pandas
        >>> group_names(pandas.Series([" p", None, "q"]))
        ['p', '', 'q']
    """
    return ["" if gone else str(value).strip() for value, gone in zip(column.tolist(), column.isna(), strict=True)]


def group_note(groups: Collection[str] | None, column: str | None) -> tuple[str, ...]:
    """A note on the number of groups from a column; none without one.

    Example:
        >>> group_note(["p", "q", "p"], "patient")
        ("2 groups from the column 'patient'",)
    """
    if groups is None or column is None:
        return ()
    return (f"{counted(len(set(groups)), 'group')} from the column {column!r}",)


def group_faults(column: Column) -> list[Fault]:
    """What is wrong with rows without a group.

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
            advice="Give each that belongs to no other a name of its own",
            reason=f"no group in {column.name!r}",
        )
    ]


def likely_groups(unread: Frame) -> Iterator[str]:
    """Notes on columns of a list that are called like a group and repeat: without groups nobody would find that leak.

    Example:
        >>> import pandas
        >>> next(likely_groups(pandas.DataFrame({"patient": [1, 1, 2]})))[:55]
        "the column 'patient' has 2 values for 3 pictures: give "
    """
    for column in unread.columns:
        like, count = _LIKE_A_GROUP.fullmatch(column.strip()), unread[column].nunique()
        if like and 1 < count < len(unread):
            yield (
                f"the column {column!r} has {count:,} values for {counted(len(unread), 'picture')}: give `group` "
                f"(--group {shlex.quote(column)}), or pictures of one {like[1].lower() or column} lie on both sides"
            )
