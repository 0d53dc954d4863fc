"""Checks of numbers and names that the user gives; those of tensors are in `_check`, and need torch."""

import math
import numbers
import operator
from collections.abc import Iterable

from onepeak._registry import unknown_name
from onepeak.errors import InputError

_NUMBERS: tuple[type, ...] = (numbers.Real,)
"""NumPy's are among them, which to a type checker are no `float`."""


def check_integer(name: str, value: int, *, minimum: int) -> int:
    """An integer no smaller than `minimum` (booleans are no integers here)."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < minimum:
        raise InputError(f"`{name}` must be an integer >= {minimum}, got {value!r}.")
    return number


def check_num_classes(num_classes: int) -> int:
    """A number of classes: an integer >= 2."""
    return check_integer("num_classes", num_classes, minimum=2)


def check_number(
    name: str,
    value: float,
    *,
    above: float | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    below: float | None = None,
) -> float:
    """A finite number, NumPy's too, within the bounds given (`above` and `below` exclude their end), as Python's."""
    bounds = [
        (above, ">", operator.gt),
        (minimum, ">=", operator.ge),
        (maximum, "<=", operator.le),
        (below, "<", operator.lt),
    ]
    given = [(bound, sign, holds) for bound, sign, holds in bounds if bound is not None]
    is_number = isinstance(value, _NUMBERS) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or not all(holds(value, bound) for bound, _, holds in given):
        wanted = " and ".join(f"{sign} {bound:g}" for bound, sign, _ in given)
        raise InputError(f"`{name}` must be a finite number{' ' + wanted if wanted else ''}, got {value!r}.")
    return float(value)


def check_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """One of a closed set of names; the message suggests the nearest."""
    known = list(choices)
    if value not in known:
        raise unknown_name(f"`{name}`", str(value), known)
    return value
