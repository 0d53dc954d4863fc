"""How commands say that something takes its time and cannot tell how far it is."""

from collections.abc import Iterator
from contextlib import contextmanager

from onepeak.cli.tables import print_note


@contextmanager
def busy(what: str, *, quiet: bool = False) -> Iterator[None]:
    """A sign of life on standard error while something is done: a spinner on a terminal, one line elsewhere.

    Args:
        what: What is done ("Exporting model").
        quiet: To show nothing.
    """
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet)
    if not quiet and not console.is_terminal:
        print_note(f"{what} ...")
    with console.status(what):
        yield
