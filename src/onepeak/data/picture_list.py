"""A list of pictures by path: every one there, every one once."""

import posixpath
from collections.abc import Hashable, Sequence
from pathlib import Path

from onepeak._listing import counted, listed
from onepeak.data.faults import FEW, Fault
from onepeak.data.manifest import ImageFiles


def find_pictures(
    paths: Sequence[object], *, root: Path, rows: Sequence[Hashable], column: str = "path"
) -> tuple[list[Path | None], list[Fault]]:
    """Where the pictures of a list lie, and what is wrong with its paths.

    Args:
        paths: Relative to `root`, or absolute; backslashes are taken as slashes where that finds the file.
        root: The folder the paths start from.
        rows: The name of each path's row, for messages.
        column: The list's name for the paths, for messages.

    Returns:
        The path of each from the root, None where there is no such file; and the faults.

    Example:
        >>> _, (fault,) = find_pictures(["a.png"], root=Path("nowhere"), rows=[2])
        >>> print(fault)
        1 of 1 picture does not exist in nowhere: a.png (row 2). Say where they lie with `root` (--root).
    """
    texts = [path.strip() if isinstance(path, str) else "" for path in paths]
    found = [on_disk(root, text) if text else None for text in texts]
    faults = []
    if unnamed := [place for place, text in enumerate(texts) if not text]:
        where = listed((rows[place] for place in unnamed), limit=FEW)
        faults.append(
            Fault(
                places=tuple(unnamed),
                sentence=f"Every row must have a `{column}`, {counted(len(unnamed), 'row')} without one: {where}",
                advice="Fill them in",
                reason=f"no `{column}`",
            )
        )
    if gone := [place for place, path in enumerate(found) if path is None and texts[place]]:
        shown = listed((f"{texts[place]} (row {rows[place]})" for place in gone), limit=FEW)
        faults.append(
            Fault(
                places=tuple(gone),
                sentence=f"{len(gone):,} of {counted(len(found), 'picture')} {'does' if len(gone) == 1 else 'do'} not "
                f"exist in {root}: {shown}",
                advice="Say where they lie with `root` (--root)",
                reason=f"no such picture, {listed((texts[place] for place in gone), limit=FEW)}",
            )
        )
    places: dict[str, list[Hashable]] = {}
    for path, row in zip(found, rows, strict=True):
        if path is not None:
            places.setdefault(posixpath.normpath(_from_root(root, path).as_posix()), []).append(row)
    if twice := [f"{name} (rows {listed(at, limit=FEW)})" for name, at in places.items() if len(at) > 1]:
        sentence = f"`{column}` must name every picture once, got {listed(twice, limit=FEW)}"
        faults.append(Fault(places=(), sentence=sentence))
    return found, faults


def picture_files(paths: Sequence[Path], *, root: Path) -> tuple[ImageFiles, tuple[str, ...]]:
    """These pictures as items, and a note on those that a list for other machines cannot name."""
    own = [_from_root(root, path) for path in paths]
    outside = sum(path.is_absolute() for path in own)
    notes = (f"{counted(outside, 'picture')} by absolute path: the list works on this machine only",) if outside else ()
    return ImageFiles(root=root, paths=tuple(path.as_posix() for path in own)), notes


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


def _from_root(root: Path, path: Path) -> Path:
    if path.is_absolute() and path.is_relative_to(root.resolve()):
        return path.relative_to(root.resolve())
    return path
