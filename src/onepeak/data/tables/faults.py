"""Faulty rows of a table: reported all at once, or left out with one note."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from onepeak._core.imports import Column
from onepeak._core.wording import counted, listed
from onepeak.errors import InputError

FEW = 5
"""How many cells of one fault a message shows."""
CORRECT = "Correct these cells, or empty them: missing values are filled in. Or name what stands for one with `missing`"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One kind of mistake, in a column or in the length of rows, and where it occurs."""

    indices: tuple[int, ...] = ()
    """Positions of the rows; empty if the whole column is at fault, so that leaving rows out does not help."""
    sentence: str
    """What is required, and the first cells that violate it, with their rows; without a full stop."""
    advice: str = ""
    """What to do other than leaving the rows out; without a full stop."""
    reason: str = ""
    """Why the rows are left out, in a few words."""
    unread: bool = False
    """Whether these rows could not be read at all, so that their cells are not further faults."""

    def __str__(self) -> str:
        return ". ".join(filter(None, (self.sentence, self.advice))) + "."


def missing_cells(
    what: str, texts: Sequence[str], rows: Sequence[Hashable], *, advice: str = "Fill them in"
) -> list[Fault]:
    """Describes the rows whose text is empty, if there are any; `what` is the text that every row must have."""
    missing = tuple(index for index, text in enumerate(texts) if not text)
    where = listed((rows[index] for index in missing), limit=FEW)
    sentence = f"Every row must have {what}, {counted(len(missing), 'row')} without one: {where}"
    reason = f"no {what.removeprefix('a ')}"
    return [Fault(indices=missing, sentence=sentence, advice=advice, reason=reason)] if missing else []


def rows_without(
    faults: Sequence[Fault], *, rows: Sequence[Hashable], skip_bad: bool
) -> tuple[list[int], tuple[str, ...]]:
    """Returns the positions of the rows without a fault, and a note on the others.

    Faults are an error unless `skip_bad` is set and leaving out at most half of the rows helps. `rows` are the names of
    the rows of the table.
    """
    bad = {index for fault in faults for index in fault.indices}
    good = [index for index in range(len(rows)) if index not in bad]
    if not faults:
        return good, ()
    of_all = f"{len(bad):,} of {counted(len(rows), 'row')}"
    of_rows, too_many = all(fault.indices for fault in faults), 2 * len(bad) > len(rows)
    if skip_bad and of_rows and not too_many:
        reasons = "; ".join(f"{fault.reason} ({shown_rows([rows[i] for i in fault.indices])})" for fault in faults)
        return good, (f"left out {of_all}: {reasons}",)
    end = ""
    if too_many and skip_bad:
        end = f"With skip_bad=True at most half of the rows may be left out, not {of_all}."
    elif of_rows and not too_many:
        end = "Or leave the rows out with skip_bad=True."
    if len(faults) == 1:
        raise InputError(str(faults[0]), fix=end)
    heading = f"{of_all if bad else 'The columns'} cannot be used as they are:"
    raise InputError("\n  ".join([heading, *map(str, faults)]) + ("\n" if end else ""), fix=end)


def refuse_lost(lost: Iterable[str], notes: Sequence[str]) -> None:
    """Raises an error if some classes lost all their samples; `notes` say what was left out, and why."""
    if names := listed(map(repr, lost), limit=FEW):
        raise InputError(
            f"Every class must keep a sample, none is left of {names}: {'; '.join(notes)}. Correct or delete them."
        )


def shown_cells(column: Column, cells: Mapping[int, object]) -> str:
    """Lists the first cells of a column, by position, with their rows, and how many more there are."""
    return listed((f"{cell!r} (row {column.index[index]})" for index, cell in cells.items()), limit=FEW)


def shown_rows(names: Sequence[Hashable]) -> str:
    """Lists the first rows by name, and how many more there are."""
    return f"row{'' if len(names) == 1 else 's'} {listed(names, limit=FEW)}"
