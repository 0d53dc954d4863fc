"""The progress bar of a fit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from onepeak._extras import require


@contextmanager
def progress(total: int, *, of: str, verbose: bool) -> Iterator[Callable[[int], object]]:
    """Shows a progress bar on stderr if `verbose`, and yields a function that sets how much is done.

    The bar is full at the end, even if the fit needed less than `total`.

    Args:
        total: The most there is to do.
        of: What is counted.
        verbose: Whether to show the bar.

    Example:
        >>> with progress(100, of="epochs", verbose=False) as done:
        ...     done(1)
    """
    if not verbose:
        yield lambda _: None
        return
    console = require("rich.console", extra="cli", purpose="The progress bar").Console(stderr=True)
    with require("rich.progress", extra="cli", purpose="The progress bar").Progress(console=console) as bar:
        task = bar.add_task(of, total=total)
        yield lambda count: bar.update(task, completed=count)
        bar.update(task, completed=total)
