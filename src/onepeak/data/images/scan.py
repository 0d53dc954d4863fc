"""Finds the images below a folder; ignores the files that systems and archivers leave there."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from onepeak._core.wording import listed
from onepeak.errors import InputError

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".avif", ".ppm", ".pgm"})


@dataclass(frozen=True, kw_only=True)
class Scan:
    """The contents of a folder, as sorted paths relative to it, with forward slashes."""

    images: tuple[str, ...]
    others: tuple[str, ...]
    """All other files: hidden files, `Thumbs.db`, `__MACOSX`, indexes, texts."""
    folders: tuple[str, ...]
    """Immediate subfolders, except hidden ones and `__MACOSX`."""

    def notes(self, *, used: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Returns a note on ignored files, if there are any; those in `used` do not count."""
        others = [path for path in self.others if path not in used]
        if not others:
            return ()
        names = sorted({PurePosixPath(path).name for path in others})
        files = "1 file that is not an image" if len(others) == 1 else f"{len(others):,} files that are not images"
        return (f"ignored {files} ({listed(names, limit=4)})",)


def scan(root: Path) -> Scan:
    """Scans a folder and all its subfolders; the order of the result does not depend on the file system.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("b.JPG", "a.png", "Thumbs.db"):
        ...         _ = (Path(folder) / name).write_bytes(b"")
        ...     scan(Path(folder))
        Scan(images=('a.png', 'b.JPG'), others=('Thumbs.db',), folders=())
    """
    if not root.is_dir():
        raise InputError(f"{root} must be a folder, got a file." if root.exists() else f"There is no folder {root}.")
    images: list[str] = []
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
            is_image = not junk and not _is_junk(name) and Path(name).suffix.lower() in IMAGE_SUFFIXES
            (images if is_image else others).append(relative)
    return Scan(images=tuple(sorted(images)), others=tuple(sorted(others)), folders=tuple(folders))


def _is_junk(name: str) -> bool:
    """Whether a name is hidden (`.DS_Store`, the `._name` files of macOS archives) or made by an archiver."""
    return name.startswith(".") or name == "__MACOSX"


def _is_new(folder: Path, root: Path, seen: set[Path]) -> bool:
    """Whether to scan a folder: each once, and links only if they lead outside the root.

    A link back to a parent would never end, and a link to another class would give its images two labels.
    """
    place = folder.resolve()
    leads_back = any(start.is_relative_to(place) for start in (root, folder.parent.resolve()))
    if place in seen or (folder.is_symlink() and (leads_back or place.is_relative_to(root))):
        return False
    seen.add(place)
    return True


def _refuse(error: OSError) -> None:
    raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error
