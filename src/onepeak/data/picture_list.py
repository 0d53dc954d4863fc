"""A list of pictures by path: every one there, every one once."""

from collections.abc import Hashable, Sequence
from pathlib import Path

from onepeak.data.listing import counted, listed
from onepeak.data.manifest import ImageFiles
from onepeak.errors import InputError


def check_pictures(
    paths: Sequence[object], *, root: Path, rows: Sequence[Hashable]
) -> tuple[ImageFiles, tuple[str, ...]]:
    """Pictures listed by path, all of which exist and none of which stands there twice.

    Args:
        paths: Relative to `root`, or absolute; backslashes are taken as slashes where that finds the file.
        root: The folder the paths start from.
        rows: The name of each path's row, for messages.

    Returns:
        The files, and notes on what was chosen.

    Example:
        >>> check_pictures(["a.png"], root=Path("nowhere"), rows=[2])
        Traceback (most recent call last):
        onepeak.errors.InputError: 1 of 1 picture does not exist in nowhere: a.png (row 2).
    """
    texts = [path.strip() if isinstance(path, str) else "" for path in paths]
    empty = [row for row, text in zip(rows, texts, strict=True) if not text]
    if empty:
        raise InputError(f"Every row must have a `path`, {counted(len(empty), 'row')} without one: {listed(empty)}.")
    found = [_on_disk(root, text) for text in texts]
    gone = [f"{texts[i]} (row {rows[i]})" for i, path in enumerate(found) if path is None]
    if gone:
        verb = "does" if len(gone) == 1 else "do"
        raise InputError(
            f"{len(gone):,} of {counted(len(found), 'picture')} {verb} not exist in {root}: {listed(gone)}."
        )
    kept = [_from_root(root, path) for path in found if path is not None]
    names = tuple(path.as_posix() for path in kept)
    _refuse_repeated(names, rows)
    outside = sum(path.is_absolute() for path in kept)
    notes = (f"{counted(outside, 'picture')} by absolute path: the list works on this machine only",) if outside else ()
    return ImageFiles(root=root, paths=names), notes


def _on_disk(root: Path, text: str) -> Path | None:
    for spelling in (text, text.replace("\\", "/")):
        path = Path(spelling)
        if (root / path).is_file():
            return path
    return None


def _from_root(root: Path, path: Path) -> Path:
    if path.is_absolute() and path.is_relative_to(root.resolve()):
        return path.relative_to(root.resolve())
    return path


def _refuse_repeated(names: Sequence[str], rows: Sequence[Hashable]) -> None:
    if len(set(names)) == len(names):
        return
    places: dict[str, list[Hashable]] = {}
    for name, row in zip(names, rows, strict=True):
        places.setdefault(name, []).append(row)
    twice = [f"{name} (rows {listed(at)})" for name, at in places.items() if len(at) > 1]
    raise InputError(
        f"`path` must name every picture once, {counted(len(twice), 'picture')} "
        f"{'stands' if len(twice) == 1 else 'stand'} there more often: {listed(twice)}."
    )
