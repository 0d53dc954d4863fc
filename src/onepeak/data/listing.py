"""How lists read in messages and notes: the first few by name, the rest as a number."""

from collections.abc import Iterable


def listed(names: Iterable[object], *, limit: int = 10) -> str:
    """Names separated by commas; after `limit` of them only how many more.

    Example:
        >>> listed(["a", "b", "c", "d"], limit=2)
        'a, b and 2 more'
    """
    every = [str(name) for name in names]
    rest = len(every) - limit
    return ", ".join(every[:limit]) + (f" and {rest:,} more" if rest > 0 else "")


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it should be.

    Example:
        >>> counted(1, "picture"), counted(1200, "class")
        ('1 picture', '1,200 classes')
    """
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"
