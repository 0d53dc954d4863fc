"""Locates the folder of a known set at or below the root that the user gives."""

from collections.abc import Callable, Sequence
from pathlib import Path

from onepeak._listing import listed
from onepeak._nearest import did_you_mean_file
from onepeak.errors import InputError


def locate(root: Path, *, inside: Sequence[str], holds: Callable[[Path], bool], layout: str) -> Path:
    """Returns the folder of the set: the root itself, or the only match among the places its archive unpacks to.

    Args:
        root: The folder given by the user.
        inside: Subfolders to look into, relative to the root.
        holds: Whether a folder is that of the set.
        layout: The expected layout, for the message.
    """
    if not root.is_dir():
        found = "a file" if root.exists() else "not there"
        raise InputError(f"`root` must be a folder, but {root} is {found}.{did_you_mean_file(root)}")
    if holds(root):
        return root
    places = [root / place for place in inside if (root / place).is_dir() and holds(root / place)]
    if len(places) > 1:
        raise InputError(f"`root` must hold the set once, but {root} holds it in {listed(places)}: give one of them.")
    if not places:
        raise InputError(
            f"There are no images of the set in {root}. Expected {layout} there, or in one of its folders "
            f"{listed(inside, limit=20)}."
        )
    return places[0]
