"""Checks of numbers and names given by the user. `check` has those of tensors, which need torch."""

import math
import numbers
import operator
from collections.abc import Iterable

from onepeak._core.registry import unknown_name
from onepeak.errors import InputError

_NUMBERS: tuple[type, ...] = (numbers.Real,)
"""Includes NumPy's numbers, which a type checker does not accept as `float`."""


def check_integer(name: str, value: int, *, minimum: int) -> int:
    """Checks for an integer >= `minimum` and returns it; booleans are refused."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < minimum:
        raise InputError(f"`{name}` must be an integer >= {minimum}, got {value!r}.", argument=name)
    return number


def check_num_classes(num_classes: int) -> int:
    """Checks for an integer >= 2 and returns it."""
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
    """Checks for a finite number within the given bounds and returns it as a Python float.

    NumPy numbers are accepted. `above` and `below` are strict bounds, `minimum` and `maximum` are not.
    """
    bounds = [
        (above, ">", operator.gt),
        (minimum, ">=", operator.ge),
        (maximum, "<=", operator.le),
        (below, "<", operator.lt),
    ]
    given = [(bound, sign, holds) for bound, sign, holds in bounds if bound is not None]
    # Not by `math.isfinite`, which torch.compile(dynamic=True) cannot trace.
    is_number = isinstance(value, _NUMBERS) and not isinstance(value, bool) and -math.inf < value < math.inf
    if not is_number or not all(holds(value, bound) for bound, _, holds in given):
        wanted = " and ".join(f"{sign} {bound:g}" for bound, sign, _ in given)
        sign = f" {wanted}" if wanted else ""
        raise InputError(f"`{name}` must be a finite number{sign}, got {value!r}.", argument=name)
    return float(value)


def check_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """Checks for one of a closed set of names and returns it; the message suggests the closest one."""
    known = list(choices)
    if value not in known:
        raise unknown_name(f"`{name}`", str(value), known, argument=name)
    return value
