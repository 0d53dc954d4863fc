"""Which class a label may stand for that is not written as any class is."""

import difflib
import re
from collections.abc import Sequence


def looks_like(label: str, names: Sequence[str]) -> str | None:
    """The name that looks most like a label, to be asked about; None where none does.

    Example:
        >>> looks_like("midle", ["low", "middle"]), looks_like("x", ["low", "middle"])
        ('middle', None)
    """
    return variant_of(label, names) or next(iter(difflib.get_close_matches(label, names, n=1)), None)


def variant_of(label: str, names: Sequence[str]) -> str | None:
    """The name of which a label is another writing, without a doubt; None where there is none.

    They agree but for case, spaces and signs, or one begins as the other, and no digit differs.

    Example:
        >>> variant_of("Grade-2", ["grade 1", "grade 2"]), variant_of("middle", ["low", "mid"])
        ('grade 2', 'mid')
        >>> variant_of("grade 9", ["grade 2"]), variant_of("unknown", ["known"])
        (None, None)
    """
    own = _plain(label)
    alike = [name for name in names if own and _plain(name) and _digits(name) == _digits(label)]
    same = [name for name in alike if _plain(name) == own]
    begun = [name for name in alike if own.startswith(_plain(name)) or _plain(name).startswith(own)]
    return next(iter([*same, *begun]), None)


def _plain(name: str) -> str:
    """A name without case, spaces and signs."""
    return re.sub(r"[\W_]+", "", name).casefold()


def _digits(name: str) -> list[str]:
    return re.findall(r"\d+", name)
