"""The order of labels: integers are sorted; the order of names comes from the user and is never guessed.

It is the first that there is of: `order` as given, a first row of the table that names the classes, `classes.txt`
beside the data, an ordered categorical column, and the integers themselves.
"""

import math
import numbers
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._core.files import read_text
from onepeak._core.wording import counted, did_you_mean_file, listed, visible
from onepeak.data.tables.faults import FEW, Fault, shown_rows
from onepeak.errors import InputError

Order: TypeAlias = str | Path | range | Sequence[str] | Sequence[int]
"""`"a,b,c"`, `"0..69"`, the path of a `.txt` file, or the names themselves; lowest first."""

CLASSES_FILE = "classes.txt"
_RANGE = re.compile(r"\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")
_MOST_CLASSES = 100_000


def declared_order(order: Order, *, argument: str = "order") -> tuple[str, ...]:
    """Returns the names of the classes, lowest first; messages call the order `argument`.

    Example:
        >>> declared_order("low, middle, high")
        ('low', 'middle', 'high')
        >>> declared_order("3..6")
        ('3', '4', '5', '6')
    """
    match order:
        case Path():
            names = _read_classes(order)
        case str() if order.strip().endswith(".txt"):
            names = _read_classes(Path(order.strip()))
        case str():
            names = _range(order, argument) or tuple(name.strip() for name in order.split(","))
        case set() | frozenset():
            raise InputError(f"`{argument}` must be a sequence, lowest first, got a set, which has no order.")
        case _:
            names = tuple(str(name).strip() for name in order)
    names = tuple(map(visible, names))
    if "" in names:
        raise InputError(f"`{argument}` must not have an empty name, got {', '.join(map(repr, names))}.")
    if len(names) < 2:
        words = " ".join(names).split()
        commas = f": write {','.join(words)}" if len(words) > 1 else ""
        raise InputError(
            f"`{argument}` must name at least 2 classes, lowest first, got {' '.join(names) or 'none'}{commas}."
        )
    counts = Counter(map(label_key, names))
    if twice := dict.fromkeys(name for name in names if counts[label_key(name)] > 1):
        raise InputError(f"`{argument}` must name each class once, got {listed(twice)} more than once.")
    return names


def classes_file(folder: Path) -> Path | None:
    """Returns the `classes.txt` of a folder, or None if there is none."""
    path = folder / CLASSES_FILE
    return path if path.is_file() else None


def _range(text: str, argument: str) -> tuple[str, ...] | None:
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2])
    if not first < last < first + _MOST_CLASSES:
        raise InputError(
            f"`{argument}` must be an ascending range of at most {_MOST_CLASSES:,} integers, got {text.strip()}."
            + (f" Did you mean {last}..{first}?" if last < first else "")
        )
    return tuple(str(value) for value in range(first, last + 1))


def _read_classes(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        raise InputError(f"There is no file {path} to read the order of the classes from.{did_you_mean_file(path)}")
    names = tuple(line.strip() for line in read_text(path).splitlines() if line.strip())
    if len(names) == 1:
        names = _range(names[0], str(path)) or names
    if len(names) < 2:
        raise InputError(f"{path} must name at least 2 classes, one per line, lowest first, got {len(names)}.")
    return names


Key: TypeAlias = int | str

_INTEGER = re.compile(r"[+-]?\d{1,18}(\.0*)?")
"""At most 18 digits: no scale has longer labels, and Python refuses integers of more than 4,300 digits."""


def label_key(name: str) -> Key:
    """Returns what all spellings of a label share: the integer, or the text itself.

    Example:
        >>> label_key("3"), label_key("3.0"), label_key("03"), label_key("3.5"), label_key("low")
        (3, 3, 3, '3.5', 'low')
    """
    return int(name.partition(".")[0]) if _INTEGER.fullmatch(name) else name


def letters(name: str) -> str:
    """Returns the lower-case letters and digits of a name: `In Situ`, `in_situ` and `InSitu` are alike."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


_MISSING = frozenset({"na", "n/a", "nan", "null", "<na>"})  # common spellings of "no value"; "None" may be a class
_MOST_GAPS = 1_000
"""Above this number, gaps are counted instead of listed: such labels are hardly a scale."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OrderedLabels:
    """Labels as positions in their order."""

    labels: npt.NDArray[np.int64]
    """-1 where a label is missing or is not in the order."""
    classes: tuple[str, ...]
    notes: tuple[str, ...]
    """Notes for the user on the order."""


def order_labels(
    labels: Sequence[object],
    *,
    order: Order | None = None,
    argument: str = "order",
    rows: Sequence[Hashable] | None = None,
) -> OrderedLabels:
    """Converts labels to positions in their order; raises an error if a label is missing or not in the order.

    Integers (`3`, `"3"`, `3.0`) are sorted, and only those that occur become classes unless `order` is a range. All
    other labels need `order`; None and NaN are missing labels. `argument` and `rows` are the names of the order and of
    the samples in messages.

    Example:
        >>> order_labels([10, 9, 12]).classes
        ('9', '10', '12')
    """
    ordered, faults = read_labels(labels, order=order, argument=argument, rows=rows)
    if ordered is None or faults:
        raise InputError(" ".join(map(str, faults)))
    return ordered


def read_labels(
    labels: Sequence[object],
    *,
    order: Order | None = None,
    argument: str = "order",
    source: str = "",
    rows: Sequence[Hashable] | None = None,
) -> tuple[OrderedLabels | None, list[Fault]]:
    """Does what `order_labels` does, but returns the faults of labels without a position, and None without an order.

    `source` is where the order comes from, for messages, if neither from the argument nor from its file.
    """
    if not len(labels):
        raise InputError("There are no samples.")
    source = order.name if isinstance(order, Path) else source
    classes = None if order is None else declared_order(order, argument=argument)
    declared = {label_key(name) for name in classes or ()}
    texts = [_text(label) for label in labels]
    present = {
        index: text
        for index, text in enumerate(texts)
        if text is not None and (text in declared or text.casefold() not in _MISSING)
    }
    faults = [] if len(present) == len(texts) else [_missing(present, len(texts), rows)]
    if not present:
        return None, faults
    counts = Counter(present.values())
    try:
        _refuse_two_spellings(counts)
        if classes is None:
            integers = _integers(counts, argument)
            classes, notes = tuple(map(str, integers)), _integer_notes(integers, counts.total(), argument)
        else:
            used = set(map(label_key, counts))
            empty = [name for name in classes if label_key(name) not in used]
            notes = [f"{counted(len(empty), 'class')} of the order without a sample: {listed(empty)}"] if empty else []
    except InputError as error:
        return None, [*faults, Fault(indices=(), sentence=str(error).removesuffix("."))]
    position = {label_key(name): index for index, name in enumerate(classes)}
    codes = {text: position.get(label_key(text), -1) for text in counts}
    if unnamed := {index: text for index, text in present.items() if codes[text] < 0}:
        fault = _unnamed(unnamed, classes, f"The order in {source}" if source else f"`{argument}`", rows)
        if _shifted(counts, classes):  # leaving these rows out would not correct the others
            advice = "Are the labels shifted by one? Correct the labels or the order"
            fault = replace(fault, indices=(), advice=advice)
        faults.append(fault)
    positions = np.full(len(texts), -1, dtype=np.int64)
    positions[list(present)] = [codes[text] for text in present.values()]
    shown = f"order{f' from {source}' if source else ''}: {shown_order(classes)}"
    return OrderedLabels(labels=positions, classes=classes, notes=(shown, *notes)), faults


def shown_order(classes: Sequence[str]) -> str:
    """Formats the order for display; for many classes it shows the first ones, the last and the number."""
    if len(classes) <= 8:
        return " < ".join(classes)
    return f"{' < '.join(classes[:3])} < ... < {classes[-1]} ({len(classes):,} classes)"


def _text(label: object) -> str | None:
    """Returns a label as text: whole numbers without a point, None if missing."""
    if label is None or isinstance(label, str):
        return (visible(label.strip()) or None) if label else None
    if isinstance(label, bool | np.bool_):
        return str(label)
    if isinstance(label, numbers.Integral):
        return str(int(label))
    if isinstance(label, numbers.Real):
        number = float(label)
        if math.isnan(number):
            return None
        return str(int(number)) if number.is_integer() else repr(number)
    return str(label)


def _missing(present: Mapping[int, str], number: int, rows: Sequence[Hashable] | None) -> Fault:
    missing = tuple(index for index in range(number) if index not in present)
    if not present:
        return Fault(indices=missing, sentence="There are no labels: every one is missing")
    where = "" if rows is None else f": {shown_rows([rows[index] for index in missing])}"
    return Fault(
        indices=missing,
        sentence=f"Every sample must have a label, {counted(len(missing), 'sample')} of {number:,} "
        f"{'has' if len(missing) == 1 else 'have'} none{where}",
        advice="Fill them in",
        reason="no label",
    )


def _unnamed(unnamed: Mapping[int, str], classes: Sequence[str], given: str, rows: Sequence[Hashable] | None) -> Fault:
    by_text: dict[str, list[int]] = {}
    for index, text in unnamed.items():
        by_text.setdefault(text, []).append(index)
    alike = {letters(name): name for name in classes if letters(name)}
    shown = []
    for text, indices in sorted(by_text.items()):
        where = "" if rows is None else f", {shown_rows([rows[index] for index in indices])}"
        hint = f"; did you mean {alike[letters(text)]!r}?" if letters(text) in alike else ""
        shown.append(f"{text!r} ({counted(len(indices), 'sample')}{where}{hint})")
    return Fault(
        indices=tuple(unnamed),
        sentence=f"{given} must name every label of the data, it lacks {listed(shown, limit=FEW)}. It names "
        f"{listed(classes)}",
        advice="Correct these labels or the order",
        reason=f"a label that the order lacks, {listed(map(repr, sorted(by_text)), limit=FEW)}",
    )


def _shifted(labels: Iterable[str], classes: Sequence[str]) -> bool:
    """Whether all labels are integers that would be in the order after adding or subtracting 1."""
    keys, known = list(map(label_key, labels)), set(map(label_key, classes))
    integers = [key for key in keys if isinstance(key, int)]
    return len(integers) == len(keys) and any(known.issuperset(n + step for n in integers) for step in (-1, 1))


def _refuse_two_spellings(counts: Counter[str]) -> None:
    spellings: dict[Key, set[str]] = {}
    for text in counts:
        if isinstance(key := label_key(text), int):
            spellings.setdefault(key, set()).add(text.partition(".")[0])  # 3 and 3.0 differ only by the column's type
    clashes = [" and ".join(map(repr, sorted(texts))) for texts in spellings.values() if len(texts) > 1]
    if clashes:
        raise InputError(f"Labels that are the same integer must be written alike, got {listed(clashes)}.")


def _integers(counts: Counter[str], argument: str) -> list[int]:
    """Returns the labels as sorted integers; raises an error if some are not integers, or if all are equal."""
    flag = " (--order LOWEST,...,HIGHEST, or one name per line in classes.txt)" if argument == "order" else ""
    shown = listed(f"{text!r} ({number:,})" for text, number in sorted(counts.items()))
    distinct = set(map(label_key, counts))
    if len(distinct) == 1:
        raise InputError(
            f"There must be at least 2 classes, all {counts.total():,} samples have the label {shown}. "
            f"If other classes exist, name them all in `{argument}`{flag}, lowest first."
        )
    present = sorted(key for key in distinct if isinstance(key, int))
    if len(present) < len(distinct):
        raise InputError(
            f"The order of the labels is not known and is never guessed. Found, with the number of samples: {shown}. "
            f"Give `{argument}`{flag}, lowest first."
        )
    return present


def _integer_notes(present: Sequence[int], num_samples: int, argument: str) -> list[str]:
    notes = []
    lowest, highest = present[0], present[-1]
    num_gaps = highest - lowest + 1 - len(present)
    if num_gaps:
        known = set(present)
        gaps = (value for value in range(lowest, highest) if value not in known)
        missing = f"{num_gaps:,} of them" if num_gaps > _MOST_GAPS else listed(gaps)
        flag = f"--order {lowest}..{highest}" if argument == "order" else f"{argument}='{lowest}..{highest}'"
        notes.append(f"integers between the labels without a sample are not classes ({missing}); {flag} keeps them")
    if len(present) > max(10, num_samples // 2):
        notes.append(f"{len(present):,} different integers in {num_samples:,} samples: are they classes?")
    return notes
