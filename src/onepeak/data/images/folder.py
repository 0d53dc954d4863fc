"""Images by path: all below a folder, a folder with one folder per class, or a list of paths."""

import os
import posixpath
import shlex
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path, PurePath, PurePosixPath

from onepeak._core.imports import Frame
from onepeak._core.wording import counted, listed
from onepeak.data.images.dicom import SUFFIXES, patients_of
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.order import Order, classes_file, order_labels
from onepeak.data.tables.faults import FEW, Fault, missing_cells
from onepeak.errors import InputError

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".avif", ".ppm", ".pgm"})
IMAGE_SUFFIXES |= frozenset(SUFFIXES)


@dataclass(frozen=True, kw_only=True)
class Scan:
    """The contents of a folder, as sorted paths relative to it, with forward slashes."""

    images: tuple[str, ...]
    others: tuple[str, ...]
    """All other files: hidden files, `Thumbs.db`, `__MACOSX`, indexes, texts."""
    folders: tuple[str, ...]
    """Immediate subfolders, except hidden ones and `__MACOSX`."""
    outside: tuple[str, ...] = ()
    """Links that lead out of the folder; they are followed."""

    def notes(self, *, used: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Returns a note on ignored files, if there are any; those in `used` do not count."""
        others, notes = [path for path in self.others if path not in used], []
        if others:
            names = sorted({PurePosixPath(path).name for path in others})
            files = "1 file that is not an image" if len(others) == 1 else f"{len(others):,} files that are not images"
            notes.append(f"ignored {files} ({listed(names, limit=4)})")
        if self.outside:
            lead = "leads" if len(self.outside) == 1 else "lead"
            notes.append(
                f"{counted(len(self.outside), 'link')} {lead} out of the folder: {listed(self.outside, limit=4)}"
            )
        return tuple(notes)


def scan(root: Path) -> Scan:
    """Scans a folder and all its subfolders; the order of the result does not depend on the file system."""
    if not root.is_dir():
        raise InputError(f"{root} must be a folder, got a file." if root.exists() else f"There is no folder {root}.")
    images, others, folders, outside = list[str](), list[str](), list[str](), list[str]()
    seen, whole, waiting = set[Path](), root.resolve(), [""]
    while waiting:
        parent = waiting.pop()
        try:
            with os.scandir(root / parent) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error
        junk, below = any(map(_is_junk, parent.split("/"))), list[str]()
        for entry in entries:
            path = f"{parent}/{entry.name}" if parent else entry.name
            if entry.is_dir():
                if not _is_new(Path(entry.path), whole, seen):
                    continue
                below.append(path)
            else:
                # A link that leads nowhere is reported when the images are read; a pipe or device is no file.
                file = entry.is_file() or (entry.is_symlink() and not os.path.exists(entry.path))  # noqa: PTH110
                is_image = file and not junk and not _is_junk(entry.name) and _is_image(PurePath(entry.name))
                (images if is_image else others).append(path)
            if entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(whole):
                outside.append(path)
        folders = folders or [name for name in below if not parent and not _is_junk(name)]
        waiting += reversed(below)
    return Scan(
        images=tuple(sorted(images)), others=tuple(sorted(others)), folders=tuple(folders), outside=tuple(outside)
    )


def _is_junk(name: str) -> bool:
    """Whether a name is hidden (`.DS_Store`, the `._name` files of macOS archives) or made by an archiver."""
    return name.startswith(".") or name == "__MACOSX"


def _is_new(folder: Path, root: Path, seen: set[Path]) -> bool:
    """Whether to scan a folder: each once, and links only if they lead outside the root.

    A link back to a parent would never end, and a link to another class would give its images two labels.
    """
    target = folder.resolve()
    leads_back = any(start.is_relative_to(target) for start in (root, folder.parent.resolve()))
    if target in seen or (folder.is_symlink() and (leads_back or target.is_relative_to(root))):
        return False
    seen.add(target)
    return True


_MANY_FOLDERS, _FEW_EACH = 20, 8
"""More folders than this, with fewer images each on average, may be patients rather than classes."""
_PARTS = frozenset({"train", "training", "val", "valid", "validation", "test", "testing"})


def read_folder(root: Path, *, order: Order | None = None) -> Manifest:
    """Reads `root/<class>/**/<image>`: the name of the class folder is the label.

    The order comes from `order`, else from `root/classes.txt`; folders named by integers are sorted. A folder without
    images is a class only if the order names it.
    """
    found = scan(root)
    beside = [path for path in found.images if "/" not in path]
    paths = tuple(path for path in found.images if "/" in path)
    names = [path.partition("/")[0] for path in paths]
    _refuse_other_layouts(root, found, sorted(set(names)), order)
    declared = None if order is not None else classes_file(root)
    ordered = order_labels(names, order=declared if order is None else order)
    empty = sorted(set(found.folders).difference(names, ordered.classes))
    notes = [*ordered.notes, *found.notes(used=() if declared is None else (declared.name,))]
    if beside:
        notes.append(f"left out {counted(len(beside), 'image')} beside the class folders ({listed(beside, limit=4)})")
    if empty:
        notes.append(f"{counted(len(empty), 'folder')} without an image, not used as a class ({listed(empty)})")
    groups, of_patients = patients_of(root, paths)
    return Manifest(
        name=root.resolve().name,
        items=ImageFiles(root=root, paths=paths),
        groups=groups,
        labels=ordered.labels,
        classes=ordered.classes,
        notes=(*notes, *of_patients),
    )


def _refuse_other_layouts(root: Path, found: Scan, names: list[str], order: Order | None) -> None:
    layout = f"Expected {root}/<class>/<image>, one folder per class"
    if not found.images:
        raise InputError(f"There are no images below {root}. {layout}.")
    if not names:
        raise InputError(
            f"{root} has {counted(len(found.images), 'image')} but no class folders. {layout}; "
            "or list the images in a CSV with the columns path,label and give that file."
        )
    if order is None and set(map(str.casefold, names)) <= _PARTS:
        raise InputError(
            f"The folders of {root} ({listed(names)}) look like parts of a split, not classes. {layout}: "
            "give one part, or list the images in a CSV."
        )
    if order is None and len(names) > _MANY_FOLDERS and len(found.images) < _FEW_EACH * len(names):
        raise InputError(
            f"{root} has {len(names):,} folders with {round(len(found.images) / len(names), 1):g} images each. If they "
            "are patients, list the images in a CSV with the columns path,label,group. If they are classes, name them "
            f"with `order` (--order {names[0]},{names[1]},... or --order LOWEST..HIGHEST)."
        )
    if len(names) == 1 and len(_below(found, names[0])) > 1:
        raise InputError(
            f"{root} has the one folder {names[0]}, which holds folders itself ({listed(_below(found, names[0]))}). "
            f"{layout}. Did you mean {root / names[0]}?"
        )


def _below(found: Scan, folder: str) -> list[str]:
    """Returns the names of the subfolders that contain images."""
    inside = (path.split("/")[1:] for path in found.images if path.startswith(f"{folder}/"))
    return sorted({parts[0] for parts in inside if len(parts) > 1})


_FIRST = 10
"""How many rows are checked to see whether a column names images."""


def find_images(
    paths: Sequence[object], *, root: Path, rows: Sequence[Hashable], column: str = "path"
) -> tuple[list[Path | None], list[Fault]]:
    """Finds the images of a list: each relative to `root`, None if there is no such file; and the faults in its paths.

    `rows` and `column` are the names of each path's row and of the paths' column, for messages. See `on_disk` for the
    spellings that are accepted.
    """
    texts = [str(path).strip() if isinstance(path, str | int | os.PathLike) else "" for path in paths]
    tree = Tree(root)
    found = list(on_disk(root, texts, tree=tree))
    faults = missing_cells(f"a `{column}`", texts, rows)
    if gone := [index for index, path in enumerate(found) if path is None and texts[index]]:
        shown = listed((f"{texts[index]} (row {rows[index]})" for index in gone), limit=FEW)
        bare = not all(_is_image(PurePath(texts[index])) for index in gone)
        near = next(((texts[index], names) for index in gone if (names := tree.like(texts[index]))), None)
        faults.append(
            Fault(
                indices=tuple(gone),
                sentence=f"{len(gone):,} of {counted(len(found), 'image')} {'does' if len(gone) == 1 else 'do'} not "
                f"exist in {root}: {shown}",
                advice=f"Check the column `{column}` (--path) and the folder (--root)"
                + ("; a name without a file extension must match exactly one image" if bare else "")
                + (f"; {near[0]} may be {listed(near[1], limit=2)} there" if near else ""),
                reason=f"no such image, {listed((texts[index] for index in gone), limit=FEW)}",
            )
        )
    rows_of: dict[str, list[Hashable]] = {}
    for path, row in zip(found, rows, strict=True):
        if path is not None:
            rows_of.setdefault(posixpath.normpath(_from_root(root, path).as_posix()), []).append(row)
    if twice := [f"{name} (rows {listed(at, limit=FEW)})" for name, at in rows_of.items() if len(at) > 1]:
        faults.append(Fault(sentence=f"`{column}` must name every image once, got {listed(twice, limit=FEW)}"))
    return found, faults


def image_files(paths: Sequence[Path], *, root: Path, written: Sequence[object]) -> tuple[ImageFiles, tuple[str, ...]]:
    """Returns the images as items, and notes on them."""
    own = [_from_root(root, path) for path in paths]
    notes = []
    if outside := sum(path.is_absolute() for path in own):
        notes.append(f"{counted(outside, 'image')} with an absolute path: the list works on this machine only")
    pairs = [(_plain(str(text).strip()), path) for text, path in zip(written, paths, strict=True)]
    if other := [(text, path) for text, path in pairs if text != _plain(str(path))]:
        text, path = other[0]
        notes.append(f"{counted(len(other), 'path')} written otherwise than on disk, such as {text} for {path}")
    return ImageFiles(root=root, paths=tuple(path.as_posix() for path in own)), tuple(notes)


def refuse_names(frame: Frame, *, folder: Path) -> None:
    """Raises an error for a table whose first rows have a column that names different images in a folder."""
    first = frame.iloc[:_FIRST]
    for column in frame.columns:
        texts = [cell.strip() for cell in first[column].tolist() if isinstance(cell, str)]
        if len(set(texts)) == len(first) and all(map(_is_image, on_disk(folder, texts))):
            raise names_images(column, texts[0])


def names_images(column: str, text: str) -> InputError:
    """Returns the error for a table with a column that names images: it is a list of images and needs `path`."""
    name = shlex.quote(column)
    return InputError(
        f"The column {column!r} names images, such as {text!r}: give it as `path` (--path {name}), or leave it out "
        f"with `drop` (--drop {name}).",
        page="images",
    )


class Tree:
    """All images below a folder by name, listed when they are first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def _images(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in scan(self.root).images if self.root.is_dir() else ():
            name = PurePosixPath(path.casefold())
            for key in {name.name, name.stem}:
                found.setdefault(key, []).append(path)
        return found

    def like(self, text: str) -> list[str]:
        """Returns the images whose path ends most like a text, if their name is the same.

        None if the text begins with a folder of the root: an image that it should hold must not be found elsewhere.
        """
        parts = [part for part in text.replace("\\", "/").split("/") if part not in ("", ".")]
        if ".." in parts or (len(parts) > 1 and (self.root / parts[0]).is_dir()):
            return []
        lower = [part.casefold() for part in parts[-2::-1]]
        lengths: dict[int, list[str]] = {}
        for path in self._images.get(parts[-1].casefold(), ()) if parts else ():
            folders = path.casefold().split("/")[-2::-1]
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lower, folders, strict=False)))
            lengths.setdefault(same, []).append(path)
        return lengths[max(lengths)] if lengths else []


def on_disk(root: Path, texts: Iterable[str], *, tree: Tree | None = None) -> Iterator[Path | None]:
    """Yields the paths as spelt on disk, relative to the root; None if there is no such file.

    Backslashes are accepted as slashes. A name without an image extension matches the only image with that stem. With
    `tree`, a path whose folders the root lacks matches the only image below the root that ends like it.
    """
    images: dict[Path, dict[str, list[str]]] = {}
    for text in texts:
        path = _on_disk(root, text, images) if text else None
        if path is None and tree is not None and text and len(names := tree.like(text)) == 1:
            path = Path(names[0])
        yield path


def _on_disk(root: Path, text: str, images: dict[Path, dict[str, list[str]]]) -> Path | None:
    for path in dict.fromkeys((Path(text), Path(text.replace("\\", "/")))):
        try:
            if (root / path).is_file():
                return path
            if _is_image(path):
                continue
            folder = (root / path).parent
            if folder not in images:
                images[folder] = _images(folder)
        except (OSError, ValueError):  # a name that is too long or has characters that are not allowed
            continue
        if len(names := images[folder].get(path.name, [])) == 1:
            return path.with_name(names[0])
    return None


def _images(folder: Path) -> dict[str, list[str]]:
    """Returns the images of a folder by their names without extension."""
    found: dict[str, list[str]] = {}
    if folder.is_dir():
        with os.scandir(folder) as entries:
            for entry in entries:
                name = PurePath(entry.name)
                if _is_image(name) and entry.is_file():
                    found.setdefault(name.stem, []).append(entry.name)
    return found


def _is_image(path: PurePath | None) -> bool:
    return path is not None and path.suffix.lower() in IMAGE_SUFFIXES


def _plain(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/"))


def _from_root(root: Path, path: Path) -> Path:
    if path.is_absolute() and path.is_relative_to(root.resolve()):
        return path.relative_to(root.resolve())
    return path
