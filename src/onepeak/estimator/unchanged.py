"""A failure leaves no trace."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unchanged_by_failure(thing: object) -> Iterator[None]:
    """Restores the attributes of an object if the code inside fails.

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
    except BaseException:  # including Ctrl-C
        vars(thing).clear()
        vars(thing).update(before)
        raise
