"""Columns of features that the user names: those that hold names (`category`) and those to leave out (`drop`)."""

from collections.abc import Collection, Mapping

from onepeak._registry import unknown_name
from onepeak.data.frame_types import Frame
from onepeak.errors import InputError


def check_named(
    frame: Frame, argument: str, names: Collection[str], *, taken: Mapping[str | None, str], unused: str = ""
) -> None:
    """Refuses names that are not those of features.

    Args:
        frame: The table.
        argument: What the user calls them.
        names: The columns.
        taken: Columns that are no features, and what each is.
        unused: What the table is read as, if there is nothing to name.

    Example:
        >>> import pandas
        >>> check_named(pandas.DataFrame(columns=["age", "grade"]), "drop", ["grade"], taken={"grade": "the labels"})
        Traceback (most recent call last):
        onepeak.errors.InputError: `drop` (--drop) must name columns that are features, got 'grade', the labels.
    """
    if isinstance(names, str):
        raise InputError(f"`{argument}` must be a list of columns, got the text {names!r}: write [{names!r}].")
    if names and unused:
        raise InputError(f"`{argument}` (--{argument}) has no use for {unused}: leave it out.")
    must = f"`{argument}` (--{argument}) must name columns that are features"
    for name in names:
        if name in taken:
            raise InputError(f"{must}, got {name!r}, {taken[name]}.")
        if name not in frame.columns:
            others = [column for column in frame.columns if column not in taken]
            raise InputError(f"{unknown_name('column', name, others)} {must}.")
