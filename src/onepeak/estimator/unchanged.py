"""What fails leaves no trace."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unchanged_by_failure(thing: object) -> Iterator[None]:
    """If what happens inside fails, the attributes of a thing are those it had before.

    Example:
        >>> from types import SimpleNamespace
        >>> thing = SimpleNamespace(fitted=True)
        >>> with unchanged_by_failure(thing):
        ...     thing.fitted, thing.half = False, "done"
        ...     raise ValueError("no more")
        Traceback (most recent call last):
        ValueError: no more
        >>> thing
        namespace(fitted=True)
    """
    before = dict(vars(thing))
    try:
        yield
    except BaseException:  # Ctrl-C too
        vars(thing).clear()
        vars(thing).update(before)
        raise
