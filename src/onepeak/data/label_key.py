"""When two labels are written differently and mean the same."""

import re
from typing import TypeAlias

Key: TypeAlias = int | str

_INTEGER = re.compile(r"[+-]?\d{1,18}(\.0*)?")
"""Not longer: no scale has such labels, and Python reads no integer of more than 4,300 digits."""


def label_key(name: str) -> Key:
    """What all spellings of one label share: the integer, or the text itself.

    Example:
        >>> label_key("3"), label_key("3.0"), label_key("03"), label_key("3.5"), label_key("low")
        (3, 3, 3, '3.5', 'low')
    """
    return int(name.partition(".")[0]) if _INTEGER.fullmatch(name) else name


def letters(name: str) -> str:
    """A name without case, spaces and signs: `In Situ`, `in_situ` and `InSitu` may be one."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())
