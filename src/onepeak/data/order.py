"""What comes before what: integers order themselves, the order of names is given by the user and never guessed."""

import math
import numbers
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from onepeak._listing import counted, listed
from onepeak.data.declared_order import Order, declared_order
from onepeak.data.faults import Fault, shown_rows
from onepeak.data.label_key import Key, label_key
from onepeak.data.unnamed_labels import meant, unnamed_labels, without_item
from onepeak.errors import InputError

_MISSING = frozenset({"na", "n/a", "nan", "null", "<na>"})  # what other programs write for "no value"; not "None"
_MOST_GAPS = 1_000
"""Above this many gaps are counted, not named: the labels are then hardly a scale."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OrderedLabels:
    """Labels as positions in their order."""

    labels: npt.NDArray[np.int64]
    classes: tuple[str, ...]
    notes: tuple[str, ...]
    """What was chosen on the user's behalf."""


def order_labels(
    found: Sequence[object],
    *,
    order: Order | None = None,
    argument: str = "order",
    source: str = "",
    rows: Sequence[Hashable] | None = None,
) -> OrderedLabels:
    """Turns labels as they were found into positions in their order.

    Integers (`3`, `"3"`, `3.0`) order themselves, and only those present become classes unless a range is declared.
    Anything else needs `order`.

    Args:
        found: One label an item: text, integers, or whole floats; None and NaN are missing.
        order: Names from lowest to highest; `"a,b,c"`, `"0..69"`, a file with one name a line, or a sequence.
        argument: What the user calls `order`, for messages.
        source: Where the order stands if not in the argument or its file, for messages.
        rows: The name of each item's row, for messages about missing labels; positions if not given.

    Example:
        >>> order_labels(["mild", "severe", "mild"], order="none,mild,severe").labels
        array([1, 2, 1])
        >>> order_labels([10, 9, 12]).classes
        ('9', '10', '12')
    """
    if isinstance(order, Path):
        source = order.name
    classes = None if order is None else declared_order(order, argument=argument)
    texts = [_text(label) for label in found]
    if not texts:
        raise InputError("There are no items.")
    if missing := _missing(texts, classes, range(len(texts)) if rows is None else rows):
        raise InputError(f"{missing.sentence}.{f' {missing.advice} or leave the rows out.' if missing.advice else ''}")
    counts = Counter(text for text in texts if text is not None)
    keys = {text: label_key(text) for text in counts}
    _refuse_two_spellings(keys)
    if classes is None:
        present = _integers(counts, keys, argument)
        classes = tuple(str(value) for value in present)
        notes = _integer_notes(present, counts.total(), argument)
    else:
        if unnamed := _unnamed(texts, classes, _given(argument, source)):
            raise InputError(f"{unnamed.sentence}.")
        empty = without_item(classes, counts)
        notes = [f"{counted(len(empty), 'class')} of the order without an item: {listed(empty)}"] if empty else []
        notes += [f"classes that differ only in case: {twins}; are they one?" for twins in _case_twins(classes)]
    position = {label_key(name): index for index, name in enumerate(classes)}
    labels = np.array([position[keys[text]] for text in texts if text is not None], dtype=np.int64)
    shown = f"order{f' from {source}' if source else ''}: {shown_order(classes)}"
    return OrderedLabels(labels=labels, classes=classes, notes=(shown, *notes))


def label_faults(
    found: Sequence[object],
    *,
    rows: Sequence[Hashable],
    order: Order | None = None,
    source: str = "",
    may_grow: bool = True,
) -> list[Fault]:
    """The labels that are missing, and those that the order does not name, for which `order_labels` would refuse all.

    Args:
        found: One label an item.
        rows: The name of each item's row.
        order: See `order_labels`, as for the source.
        source: Where the order stands if not in the argument or its file.
        may_grow: Whether a class can be added to the order; not to that of a trained model.

    Example:
        >>> for fault in label_faults(["low", "", "hi"], rows=[2, 3, 4], order="low,high"):
        ...     print(fault.sentence)
        Every item must have a label, 1 item of 3 has none: row 3
        `order` must name every label of the data, it lacks 'hi' (1 item, row 4; is 'high' meant for it?). It names
        low, high
    """
    classes = None if order is None else declared_order(order)
    texts = [_text(label) for label in found]
    given = _given("order", order.name if isinstance(order, Path) else source)
    missing = _missing(texts, classes, rows)
    unnamed = None if classes is None else _unnamed(texts, classes, given, rows=rows, may_grow=may_grow)
    return [fault for fault in (missing, unnamed) if fault is not None]


def lost_classes(found: Sequence[object], *, left_out: Collection[int], order: Order | None = None) -> dict[str, str]:
    """Classes that would have no item once rows are left out, though they have some, as they are written there.

    A label that the order lacks stands for a class without an item if it may be another writing of it, see `meant`:
    where a message would ask. Any other belongs to no class.

    Args:
        found: One label an item.
        left_out: Positions of the rows.
        order: See `order_labels`.

    Example:
        >>> lost_classes(["low", "middle", "high", "high", "9"], left_out=[1, 2, 4], order="low,mid,high")
        {'mid': 'middle'}
        >>> lost_classes([0, 0, 1], left_out=[0, 2])
        {'1': '1'}
    """
    classes = () if order is None else declared_order(order)
    names = {label_key(name): name for name in classes}
    texts = {place: text for place, text in enumerate(map(_text, found)) if text and not _is_missing(text, names)}
    spare = without_item(classes, texts.values())
    kept = {label_key(text) for place, text in texts.items() if place not in left_out}
    lost: dict[str, str] = {}
    for text in (text for place, text in texts.items() if place in left_out):
        name = text if order is None else names.get(label_key(text)) or meant(text, spare)
        if name is not None and label_key(name) not in kept:
            lost.setdefault(name, text)
    return lost


def shown_order(classes: Sequence[str]) -> str:
    """The order as a reader sees it; of many classes the first ones, the last and their number.

    Example:
        >>> shown_order(["low", "middle", "high"]), shown_order([str(age) for age in range(70)])
        ('low < middle < high', '0 < 1 < 2 < ... < 69 (70 classes)')
    """
    if len(classes) <= 8:
        return " < ".join(classes)
    return f"{' < '.join(classes[:3])} < ... < {classes[-1]} ({len(classes):,} classes)"


def _text(label: object) -> str | None:
    """A label as text: whole numbers without a point, None for a missing one."""
    if label is None or isinstance(label, str):
        return (label.strip() or None) if label else None
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


def _given(argument: str, source: str) -> str:
    return f"The order in {source}" if source else f"`{argument}`"


def _is_missing(text: str | None, declared: Collection[Key]) -> bool:
    return text is None or (text.casefold() in _MISSING and text not in declared)


def _missing(texts: Sequence[str | None], classes: Sequence[str] | None, rows: Sequence[Hashable]) -> Fault | None:
    declared = {label_key(name) for name in classes or ()}
    missing = tuple(place for place, text in enumerate(texts) if _is_missing(text, declared))
    if not missing:
        return None
    if len(missing) == len(texts):
        return Fault(places=missing, sentence="There are no labels: every one is missing")
    return Fault(
        places=missing,
        sentence=f"Every item must have a label, {counted(len(missing), 'item')} of {len(texts):,} "
        f"{'has' if len(missing) == 1 else 'have'} none: {shown_rows([rows[place] for place in missing])}",
        advice="Fill them in",
        reason="no label",
    )


def _refuse_two_spellings(keys: dict[str, Key]) -> None:
    spellings: dict[Key, set[str]] = {}
    for text, key in keys.items():
        if isinstance(key, int):
            spellings.setdefault(key, set()).add(text.partition(".")[0])  # 3 and 3.0 differ by a column's type only
    clashes = [" and ".join(repr(text) for text in sorted(texts)) for texts in spellings.values() if len(texts) > 1]
    if clashes:
        raise InputError(f"Labels that are the same integer must be written alike, got {listed(clashes)}.")


def _integers(counts: Counter[str], keys: dict[str, Key], argument: str) -> list[int]:
    """The labels as integers from lowest to highest, or an error where they are not all integers, or all the same."""
    flag = " (--order LOWEST,...,HIGHEST, or one name a line in classes.txt)" if argument == "order" else ""
    shown = listed(f"{text!r} ({number:,})" for text, number in sorted(counts.items()))
    distinct = set(keys.values())
    if len(distinct) == 1:
        raise InputError(
            f"There must be at least 2 classes, all {counts.total():,} items have the label {shown}. "
            f"If other classes exist, name them all in `{argument}`{flag}, lowest first."
        )
    present = sorted(key for key in distinct if isinstance(key, int))
    if len(present) < len(distinct):
        raise InputError(
            f"The order of the labels is not known and is never guessed. Found, with the number of items: {shown}. "
            f"Give `{argument}`{flag}, lowest first."
            + "".join(f" {twins} differ only in case: are they one?" for twins in _case_twins(sorted(counts)))
        )
    return present


def _integer_notes(present: Sequence[int], num_items: int, argument: str) -> list[str]:
    notes = []
    lowest, highest = present[0], present[-1]
    num_gaps = highest - lowest + 1 - len(present)
    if num_gaps:
        known = set(present)
        gaps = (value for value in range(lowest, highest) if value not in known)
        missing = f"{num_gaps:,} of them" if num_gaps > _MOST_GAPS else listed(gaps)
        flag = f"--order {lowest}..{highest}" if argument == "order" else f"{argument}='{lowest}..{highest}'"
        notes.append(f"integers between the labels that no item has are not classes ({missing}); {flag} keeps them")
    if len(present) > max(10, num_items // 2):
        notes.append(f"{len(present):,} different integers in {num_items:,} items: are they classes?")
    return notes


def _unnamed(
    texts: Sequence[str | None],
    classes: Sequence[str],
    given: str,
    *,
    rows: Sequence[Hashable] | None = None,
    may_grow: bool = False,
) -> Fault | None:
    known = {label_key(name) for name in classes}
    if len(known) < len(classes):
        twice = [key for key, number in Counter(map(label_key, classes)).items() if number > 1]
        raise InputError(f"{given} must name each class once, got {listed(twice)} more than once.")
    present = {place: text for place, text in enumerate(texts) if text is not None and not _is_missing(text, known)}
    return unnamed_labels(present, classes, given=given, rows=rows, may_grow=may_grow)


def _case_twins(names: Sequence[str]) -> list[str]:
    """Names that are the same but for case, those of each kind in one text."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(name.casefold(), []).append(name)
    return [" and ".join(map(repr, same)) for same in alike.values() if len(same) > 1]
