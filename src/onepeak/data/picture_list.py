"""A list of pictures by path: every one there, every one once."""

import posixpath
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from pathlib import Path

from onepeak._listing import counted, listed
from onepeak.data.faults import FEW, Fault
from onepeak.data.manifest import ImageFiles
from onepeak.errors import InputError


def check_pictures(
    paths: Sequence[object],
    *,
    root: Path,
    rows: Sequence[Hashable],
    skip_bad: bool = False,
    column: str = "path",
    lost: Callable[[Collection[int]], Mapping[str, str]] | None = None,
) -> tuple[ImageFiles, list[int], tuple[str, ...]]:
    """Pictures listed by path, all of which exist and none of which stands there twice.

    Args:
        paths: Relative to `root`, or absolute; backslashes are taken as slashes where that finds the file.
        root: The folder the paths start from.
        rows: The name of each path's row, for messages.
        skip_bad: Whether to leave out those that do not exist, with a note.
        column: The list's name for the paths, for messages.
        lost: The classes that would have no item without the pictures at these positions; where there are any,
            `skip_bad` would be refused, and is not advised.

    Returns:
        The files, the position of each in the list, and notes on what was chosen.

    Example:
        >>> check_pictures(["a.png"], root=Path("nowhere"), rows=[2])
        Traceback (most recent call last):
        onepeak.errors.InputError: 1 of 1 picture does not exist in nowhere: a.png (row 2). Say where they lie with
        `root` (--root).
    """
    texts = [_text(path) for path in paths]
    if fault := unnamed_pictures(paths, rows=rows, column=column):
        raise InputError(f"{fault.sentence}.")
    found = [on_disk(root, text) for text in texts]
    missing = [i for i, path in enumerate(found) if path is None]
    gone = [f"{texts[i]} (row {rows[i]})" for i in missing]
    kept = {i: _from_root(root, path) for i, path in enumerate(found) if path is not None}
    if gone and not (kept and skip_bad):
        verb = "does" if len(gone) == 1 else "do"
        refused = not kept or (lost is not None and lost(missing))
        skip = "" if refused else ", or leave them out with skip_bad=True"
        raise InputError(
            f"{len(gone):,} of {counted(len(found), 'picture')} {verb} not exist in {root}: {listed(gone)}. "
            f"Say where they lie with `root` (--root){skip}."
        )
    names = tuple(path.as_posix() for path in kept.values())
    _refuse_repeated(names, [rows[i] for i in kept], column)
    notes = (
        [f"left out {counted(len(gone), 'picture')} of the list that cannot be found: {listed(gone)}"] if gone else []
    )
    if outside := sum(path.is_absolute() for path in kept.values()):
        notes.append(f"{counted(outside, 'picture')} by absolute path: the list works on this machine only")
    return ImageFiles(root=root, paths=names), list(kept), tuple(notes)


def unnamed_pictures(paths: Sequence[object], *, rows: Sequence[Hashable], column: str = "path") -> Fault | None:
    """What is wrong with the rows of a list that name no picture; None where all do.

    Args:
        paths: As in `check_pictures`, as for the others.
        rows: The name of each path's row.
        column: The list's name for the paths.

    Example:
        >>> unnamed_pictures(["a.png", " "], rows=[2, 3]).sentence
        'Every row must have a `path`, 1 row without one: 3'
    """
    places = tuple(place for place, path in enumerate(paths) if not _text(path))
    if not places:
        return None
    where = listed((rows[place] for place in places), limit=FEW)
    return Fault(
        places=places,
        sentence=f"Every row must have a `{column}`, {counted(len(places), 'row')} without one: {where}",
        advice="Fill them in",
        reason=f"no `{column}`",
    )


def missing_pictures(paths: Sequence[object], *, root: Path) -> list[int]:
    """The positions of the pictures that do not exist; rows that name none are not among them."""
    return [place for place, path in enumerate(map(_text, paths)) if path and on_disk(root, path) is None]


def on_disk(root: Path, text: str) -> Path | None:
    """The path as it is spelt on disk, from the root; None where there is no such file, or can be none."""
    for spelling in (text, text.replace("\\", "/")):
        path = Path(spelling)
        try:
            if (root / path).is_file():
                return path
        except (OSError, ValueError):  # a name that is too long, or holds what no name can hold
            continue
    return None


def _text(path: object) -> str:
    return path.strip() if isinstance(path, str) else ""


def _from_root(root: Path, path: Path) -> Path:
    if path.is_absolute() and path.is_relative_to(root.resolve()):
        return path.relative_to(root.resolve())
    return path


def _refuse_repeated(names: Sequence[str], rows: Sequence[Hashable], column: str) -> None:
    plain = [posixpath.normpath(name) for name in names]
    if len(set(plain)) == len(plain):
        return
    places: dict[str, list[Hashable]] = {}
    for name, row in zip(plain, rows, strict=True):
        places.setdefault(name, []).append(row)
    twice = [f"{name} (rows {listed(at)})" for name, at in places.items() if len(at) > 1]
    raise InputError(
        f"`{column}` must name every picture once, {counted(len(twice), 'picture')} "
        f"{'stands' if len(twice) == 1 else 'stand'} there more often: {listed(twice)}."
    )
