"""What is wrong with rows of a table: told all at once, or left out with one line."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from onepeak._listing import counted, listed
from onepeak.errors import InputError

FEW = 5
"""Cells of one fault that a message shows."""
CORRECT = "Correct these cells, or empty them: what is missing is filled in"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One mistake, in one column or in the length of rows, and where it is found."""

    places: tuple[int, ...]
    """Positions of the rows; none where the column as a whole is at fault, which no row can be left out for."""
    sentence: str
    """What must be, and the first cells that are not, with their rows; without its full stop."""
    advice: str = ""
    """What else to do than to leave the rows out."""
    reason: str = ""
    """Why rows were left out, in a few words."""
    unread: bool = False
    """Whether nothing of these rows is known: their cells are empty, and no fault of their own."""
    plain: bool = False
    """Whether it is plain what some cells or the order should be: to leave the rows out is not advised."""
    note: str = ""
    """What is said first where the rows are left out, of so many that it may not be meant."""


def rows_without(
    faults: Sequence[Fault],
    *,
    rows: Sequence[Hashable],
    skip_bad: bool,
    lost: Mapping[str, str] | None = None,
    also: Iterable[str] = (),
) -> tuple[list[int], tuple[str, ...]]:
    """The positions of the rows without a fault, and notes on the others.

    Args:
        faults: What is wrong.
        rows: The name of each row of the table.
        skip_bad: Whether rows with a fault may be left out, as long as they are not more than half.
        lost: Classes that would have no item without these rows, and how each is written there; none may be lost.
        also: What else is wrong with the data, to be told with the faults; asked for only if these are refused.

    Raises:
        InputError: There are faults, and rows are not to be left out, or too many, or all of a class.

    Example:
        >>> fault = Fault(places=(1,), sentence="`size` must be a number, got 'big' (row 3)", reason="no `size`")
        >>> rows_without([fault], rows=[2, 3, 4], skip_bad=True)
        ([0, 2], ('left out 1 of 3 rows: no `size` (row 3)',))
    """
    if not faults:
        return list(range(len(rows))), ()
    bad = {place for fault in faults for place in fault.places}
    of_rows = all(fault.places for fault in faults)
    if not (skip_bad and of_rows and not lost and 2 * len(bad) <= len(rows)):
        raise InputError(_told(faults, also, num_bad=len(bad), num_rows=len(rows), skip_bad=skip_bad, lost=lost or {}))
    reasons = "; ".join(f"{fault.reason} ({shown_rows([rows[i] for i in fault.places])})" for fault in faults)
    note = f"left out {len(bad):,} of {counted(len(rows), 'row')}: {reasons}"
    first = (fault.note for fault in faults if fault.note)
    return [place for place in range(len(rows)) if place not in bad], (*first, note)


def refuse_lost(lost: Mapping[str, str], notes: Sequence[str]) -> None:
    """Refuses what has been left out, if no item is left of a class that had some.

    Args:
        lost: Such classes, and how each is written there.
        notes: What was left out, and why.

    Example:
        >>> refuse_lost({"high": "high"}, ["left out 2 pictures that cannot be read: a.png, b.png"])
        Traceback (most recent call last):
        onepeak.errors.InputError: Every class must keep an item: left out 2 pictures that cannot be read: a.png,
        b.png. Without these items no item is left of the class 'high': correct or delete them.
    """
    if lost:
        raise InputError(f"Every class must keep an item: {'; '.join(notes)}. {_nothing_left(lost, 'items')}")


def shown_rows(names: Sequence[Hashable]) -> str:
    """The first rows by name, and how many more.

    Example:
        >>> shown_rows([7]), shown_rows([2, 3, 5, 7, 11, 13, 17])
        ('row 7', 'rows 2, 3, 5, 7, 11 and 2 more')
    """
    return f"row{'' if len(names) == 1 else 's'} {listed(names, limit=FEW)}"


def _told(
    faults: Sequence[Fault],
    also: Iterable[str],
    *,
    num_bad: int,
    num_rows: int,
    skip_bad: bool,
    lost: Mapping[str, str],
) -> str:
    found = [". ".join(filter(None, (fault.sentence, fault.advice))) + "." for fault in faults]
    found += also
    of_all = f"{num_bad:,} of {counted(num_rows, 'row')}"
    of_rows = all(fault.places for fault in faults)
    advised = of_rows and not skip_bad and not any(fault.plain for fault in faults)
    end = "Or leave the rows out with skip_bad=True." if advised else ""
    if 2 * num_bad > num_rows:
        end = f"With {of_all}, more than half, it is not enough to leave rows out." if skip_bad else ""
    elif lost:  # and so no flag is advised that would not help
        end = _nothing_left(lost, "rows") if skip_bad else ""
    if len(found) == 1:
        return f"{found[0]} {end}".rstrip()
    what = of_all if num_bad else "The columns"
    return "\n  ".join([f"{what} cannot be used as they are:", *found]) + f"\n{end}".rstrip()


def _nothing_left(lost: Mapping[str, str], things: str) -> str:
    names = (repr(name) + (f" (written {text!r})" if text != name else "") for name, text in lost.items())
    classes = f"the class{'' if len(lost) == 1 else 'es'} {listed(names, limit=FEW)}"
    return f"Without these {things} no item is left of {classes}: correct or delete them."
