"""Finding a set's own folder below, or at, the root a user gives."""

from collections.abc import Callable, Sequence
from pathlib import Path

from onepeak._listing import listed
from onepeak._nearest import did_you_mean_file
from onepeak.errors import InputError


def locate(root: Path, *, inside: Sequence[str], holds: Callable[[Path], bool], layout: str) -> Path:
    """The folder that holds the set: the root itself, or the only one of the places its archive unpacks to.

    Args:
        root: What the user gave.
        inside: Folders below the root to look into, relative to it.
        holds: Whether a folder is the set's own.
        layout: What should be there, for the message.
    """
    if not root.is_dir():
        found = "a file" if root.exists() else "not there"
        raise InputError(f"`root` must be a folder, {root} is {found}.{did_you_mean_file(root)}")
    if holds(root):
        return root
    places = [root / place for place in inside if (root / place).is_dir() and holds(root / place)]
    if len(places) > 1:
        raise InputError(f"`root` must hold the set once, {root} holds it in {listed(places)}: give one of them.")
    if not places:
        raise InputError(
            f"There are no images of the set in {root}. Expected {layout} there, or in a folder of it called "
            f"{listed(inside, limit=20)}."
        )
    return places[0]
