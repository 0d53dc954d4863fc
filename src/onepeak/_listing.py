"""Formats lists, counts and durations for messages."""

from collections.abc import Collection, Iterable


def listed(names: Iterable[object], *, limit: int = 10) -> str:
    """Names separated by commas; beyond `limit` names, only the number left out.

    Example:
        >>> listed(["a", "b", "c", "d"], limit=2)
        'a, b and 2 more'
    """
    every = [str(name) for name in names]
    rest = len(every) - limit
    return ", ".join(every[:limit]) + (f" and {rest:,} more" if rest > 0 else "")


def counted(number: int, noun: str) -> str:
    """A count with its noun, in the plural unless the count is 1.

    Example:
        >>> counted(1, "image"), counted(1200, "class")
        ('1 image', '1,200 classes')
    """
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def counted_splits(places: Collection[tuple[int, int]]) -> str:
    """How often data are split, and into how many folds in all where a split has several.

    Args:
        places: The numbers of split and fold.

    Example:
        >>> counted_splits([(0, 0), (1, 0)]), counted_splits([(0, 0), (0, 1)])
        ('2 splits', '2 folds')
        >>> counted_splits([(0, 0), (0, 1), (1, 0), (1, 1)])
        '2 splits (4 folds)'
    """
    num_folds, num_splits = len(set(places)), len({split for split, _ in places})
    if num_splits == num_folds:
        return counted(num_splits, "split")
    folds = counted(num_folds, "fold")
    return folds if num_splits == 1 else f"{counted(num_splits, 'split')} ({folds})"


def duration(seconds: float) -> str:
    """A duration in its two largest units.

    Example:
        >>> [duration(seconds) for seconds in (7.2, 125, 7380, 190000)]
        ['7 s', '2 min 5 s', '2 h 3 min', '2 d 4 h']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400:,} d {whole % 86400 // 3600} h"
