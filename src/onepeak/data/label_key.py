"""Recognises labels that are written differently but mean the same."""

import re
from typing import TypeAlias

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
