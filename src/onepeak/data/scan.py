"""Pictures below a folder, without what file systems and archives leave beside them."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from onepeak._listing import listed
from onepeak.errors import InputError

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".avif", ".ppm", ".pgm"})


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What lies below a folder, as sorted paths relative to it, with forward slashes."""

    pictures: tuple[str, ...]
    others: tuple[str, ...]
    """Everything else: hidden files, `Thumbs.db`, `__MACOSX`, indexes, texts."""
    folders: tuple[str, ...]
    """Folders directly below, hidden ones and `__MACOSX` left out."""

    def notes(self, *, used: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A sentence on what was ignored, if anything was (files that were of use, `used`, apart)."""
        others = [path for path in self.others if path not in used]
        if not others:
            return ()
        names = sorted({PurePosixPath(path).name for path in others})
        files = "1 file that is no picture" if len(others) == 1 else f"{len(others):,} files that are no pictures"
        return (f"ignored {files} ({listed(names, limit=4)})",)


def scan(root: Path) -> Scan:
    """Looks through a folder and all folders below it; the order does not depend on the file system.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("b.JPG", "a.png", "Thumbs.db"):
        ...         _ = (Path(folder) / name).write_bytes(b"")
        ...     scan(Path(folder))
        Scan(pictures=('a.png', 'b.JPG'), others=('Thumbs.db',), folders=())
    """
    if not root.is_dir():
        raise InputError(f"{root} must be a folder, it is a file." if root.exists() else f"There is no folder {root}.")
    pictures: list[str] = []
    others: list[str] = []
    folders: list[str] = []
    seen: set[Path] = set()
    for path, below, files in os.walk(root, followlinks=True, onerror=_refuse):
        below[:] = [name for name in sorted(below) if _is_new(Path(path, name), root.resolve(), seen)]
        parent = Path(path).relative_to(root).as_posix()
        junk = parent != "." and any(_is_junk(part) for part in parent.split("/"))
        if parent == ".":
            folders = sorted(name for name in below if not _is_junk(name))
        for name in files:
            relative = name if parent == "." else f"{parent}/{name}"
            is_picture = not junk and not _is_junk(name) and Path(name).suffix.lower() in IMAGE_SUFFIXES
            (pictures if is_picture else others).append(relative)
    return Scan(pictures=tuple(sorted(pictures)), others=tuple(sorted(others)), folders=tuple(folders))


def _is_junk(name: str) -> bool:
    """Hidden (`.DS_Store`, and the `._name` twins that macOS puts into archives) or made by an archiver."""
    return name.startswith(".") or name == "__MACOSX"


def _is_new(folder: Path, root: Path, seen: set[Path]) -> bool:
    """Whether a folder is to be looked into: once each, and where it lies below the root not by a link.

    A link that leads back would be walked for ever, one to another class would put its pictures under two labels.
    """
    place = folder.resolve()
    leads_back = any(start.is_relative_to(place) for start in (root, folder.parent.resolve()))
    if place in seen or (folder.is_symlink() and (leads_back or place.is_relative_to(root))):
        return False
    seen.add(place)
    return True


def _refuse(error: OSError) -> None:
    raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error
