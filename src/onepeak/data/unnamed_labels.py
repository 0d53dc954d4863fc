"""Labels that the order does not name: what is said of them, and which class each may stand for."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from onepeak._listing import counted, listed
from onepeak.data.faults import FEW, Fault, shown_rows
from onepeak.data.label_key import label_key
from onepeak.data.spelling import meant_by

_MANY = 5
"""A label of so many rows is a class that was forgotten, or one left out on purpose, rather than a slip."""


def unnamed_labels(
    present: Mapping[int, str],
    classes: Sequence[str],
    *,
    given: str,
    rows: Sequence[Hashable] | None = None,
    may_grow: bool = False,
) -> Fault | None:
    """What is wrong with the labels that are no class; None where all are.

    Of labels in many rows it is told to add them to the order, and not advised to leave them out. Where they are, a
    note of its own says so.

    Args:
        present: The label of each place that has one.
        classes: The order.
        given: What the order is called at the beginning of a sentence.
        rows: The name of each item's row, which is told where it is known.
        may_grow: Whether a class can be added to the order.

    Example:
        >>> fault = unnamed_labels(dict(enumerate(["low", *["worst"] * 7])), ["low", "high"], given="`order`")
        >>> print(fault.sentence)
        `order` must name every label of the data, it lacks 'worst' (7 items). It names low, high
        >>> print(fault.note)
        all rows labelled 'worst' (7) are left out: the order has no such class
    """
    known = {label_key(name) for name in classes}
    at: dict[str, list[int]] = {}
    for place, text in present.items():
        if label_key(text) not in known:
            at.setdefault(text, []).append(place)
    if not at:
        return None
    spare = without_item(classes, present.values())
    folded = {name.casefold(): name for name in classes}
    shown, forgotten = [], []
    for text, places in sorted(at.items()):
        where = "" if rows is None else f", {shown_rows([rows[place] for place in places])}"
        near, twin = meant(text, spare), folded.get(text.casefold())
        hint = "" if near is None else f"; is {near!r} meant for it?"
        hint = hint if twin is None else f"; differs from {twin!r} only in case"
        shown.append(f"{text!r} ({counted(len(places), 'item')}{where}{hint})")
        if may_grow and not hint and len(places) >= _MANY:
            forgotten.append(repr(text))
    advice = ["Write them alike"] if any(text.casefold() in folded for text in at) else []
    if forgotten:
        to = "`order` (--order)" if given == "`order`" else f"{given[0].lower()}{given[1:]}"
        advice.append(f"Add {listed(forgotten, limit=FEW)} to {to} in the right place, or correct these cells")
    many = [f"{text!r} ({len(places):,})" for text, places in sorted(at.items()) if len(places) >= _MANY]
    return Fault(
        places=tuple(place for places in at.values() for place in places),
        sentence=f"{given} must name every label of the data, it lacks {listed(shown, limit=FEW)}. It names "
        f"{listed(classes)}",
        advice=". ".join(advice),
        reason=f"a label that the order lacks, {listed((repr(text) for text in sorted(at)), limit=FEW)}",
        plain=bool(advice),
        note=f"all rows labelled {listed(many, limit=FEW)} are left out: the order has no such class" if many else "",
    )


def meant(text: str, spare: Sequence[str]) -> str | None:
    """The class that a label may be another writing of, see `meant_by`; an integer is none of another one.

    Example:
        >>> meant("middle", ["mid", "high"]), meant("11", ["1", "one"])
        ('mid', None)
    """
    if isinstance(label_key(text), int):
        spare = [name for name in spare if not isinstance(label_key(name), int)]
    return meant_by(text, spare)


def without_item(classes: Sequence[str], texts: Iterable[str]) -> list[str]:
    """The classes that no label names.

    Example:
        >>> without_item(["low", "mid", "high"], ["high", "low", "middle"])
        ['mid']
    """
    used = {label_key(text) for text in texts}
    return [name for name in classes if label_key(name) not in used]
