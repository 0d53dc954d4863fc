"""Turns any form of image into the pixels a model was trained on: 8-bit RGB, upright, resized by its recipe."""

import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from torch import Tensor

from onepeak._core.files import expanded
from onepeak._core.wording import counted, did_you_mean, listed
from onepeak.data.images.decode import Image, UnreadableImageError, decode_image, upright_rgb
from onepeak.data.images.folder import Tree, on_disk, scan
from onepeak.data.images.resize import Resize
from onepeak.data.tables.columns import PATH
from onepeak.data.tables.read import CSV_SUFFIXES, PARQUET_SUFFIXES, Table, read_table
from onepeak.errors import InputError
from onepeak.serving.output import Cell, PassthroughColumns, passthrough_columns

Pixels: TypeAlias = npt.NDArray[np.uint8]
"""One image: uint8, height x width x 3."""
AnyImage: TypeAlias = str | Path | Image.Image | npt.NDArray[np.generic] | Tensor

_WANTED = "images: paths, PIL images, or uint8 arrays (height, width, 3) or (3, height, width)"


def separate(inputs: object) -> list[AnyImage]:
    """Splits one image, a sequence of images or a batch in one array into single images.

    Example:
        >>> len(separate(np.zeros((5, 8, 8, 3), np.uint8))), len(separate("scan.png"))
        (5, 1)
    """
    match inputs:
        case str() | Path() | Image.Image():
            return [inputs]
        case np.ndarray() | Tensor() if inputs.ndim == 4:
            return list(inputs)
        case np.ndarray() | Tensor():
            return [inputs]
        case Sequence():
            return list(inputs)
    raise InputError(f"`inputs` must be {_WANTED}, or a sequence of them, got {type(inputs).__name__}.")


def pixels_of(source: AnyImage, resize: Resize, *, bits: int | None = None) -> Pixels:
    """Returns the image as in training: of an array whose first and last axes have length 3, the last is the channels.

    A file or PIL image that is not a complete image raises an `UnreadableImageError`, with the reason.
    """
    match source:
        case str() | Path():
            image = decode_image(_read(Path(source)), bits=bits)
        case Image.Image():
            image = _whole(source, bits)
        case np.ndarray():
            image = Image.fromarray(_colours_last(source))
        case Tensor():
            image = Image.fromarray(_colours_last(source.detach().cpu().numpy()))
        case _:
            raise InputError(f"`inputs` must be {_WANTED}, got one that is {type(source).__name__}.")
    return np.asarray(resize.apply(image))


def _read(path: Path) -> bytes:
    try:
        if stat.S_ISREG(path.stat().st_mode):  # opening a named pipe would block forever
            return path.read_bytes()
    except FileNotFoundError:
        raise UnreadableImageError("there is no such file") from None
    except OSError as error:
        raise UnreadableImageError(f"the file may not be read: {error.strerror}") from None
    except ValueError as error:  # not a valid file name
        raise UnreadableImageError(f"there is no such file: {error}") from None
    raise UnreadableImageError("this is a folder or a device, not a file")


def _whole(image: Image.Image, bits: int | None) -> Image.Image:
    try:
        return upright_rgb(image, bits=bits)
    except (OSError, SyntaxError) as error:  # Pillow decodes lazily
        raise UnreadableImageError(f"cut off or damaged: {error}") from error


def _colours_last(array: npt.NDArray[np.generic]) -> Pixels:
    if array.ndim != 3 or not {1, 3} & {array.shape[0], array.shape[-1]} or 0 in array.shape:
        raise InputError(
            "An array of images must have shape (n, height, width, 3) or (n, 3, height, width), and one image "
            "(height, width, 3) or (3, height, width), with 1 instead of 3 if it is grey, "
            f"got {array.shape} for one image."
        )
    if array.dtype != np.uint8:
        raise InputError(f"An array of images must be uint8, 0 to 255, got {array.dtype}: scale and convert it.")
    is_last = array.shape[-1] == 3 or (array.shape[-1] == 1 and array.shape[0] != 3)
    last = array if is_last else np.moveaxis(array, 0, -1)
    return np.ascontiguousarray(np.broadcast_to(last, (*last.shape[:2], 3)), dtype=np.uint8)


@dataclass(frozen=True, kw_only=True)
class Unnamed:
    """A row of a list that names no image."""

    source: str
    """The list and the line in it."""
    error: str


@dataclass(frozen=True, kw_only=True)
class Images:
    """The images that paths, folders and lists stand for."""

    paths: list[Path | Unnamed]
    passthrough: PassthroughColumns | None
    """Columns of the lists to copy into the output."""


def image_paths(inputs: Iterable[str | Path], *, columns: Sequence[str] = (PATH,)) -> list[Path]:
    """Returns files as given, and all images below folders, sorted; other files in folders are left out.

    A CSV or parquet file stands for the images in one of its columns, in order, with paths relative to its folder.

    Args:
        inputs: Files, folders and lists. A named file is kept whatever its name, even if it does not exist, so that the
            user gets an error for it.
        columns: Possible names of a list's path column; the first one present is used.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("b.png", "a.jpg", "notes.txt"):
        ...         _ = (Path(folder) / name).write_bytes(b"")
        ...     [path.name for path in image_paths([folder, "c.png"])]
        ['a.jpg', 'b.png', 'c.png']
    """
    paths = []
    for image in images_and_columns(inputs, columns=columns).paths:
        if isinstance(image, Unnamed):
            raise InputError(f"Every row of a list must name an image, but {image.source} does not: {image.error}.")
        paths.append(image)
    return paths


def images_and_columns(
    inputs: Iterable[str | Path],
    *,
    columns: Sequence[str] = (PATH,),
    keep: Sequence[str] = (),
    root: str | Path | None = None,
    encoding: str | None = None,
) -> Images:
    """Returns the images as `image_paths` does, with columns of their lists to copy into the output.

    A row of a list without an image, or with too few or too many fields, does not stop the others. With columns to
    keep, which every list must have, or a root, from which listed paths start, there may be lists only.
    """
    given = [expanded(each) for each in inputs]
    if not given:
        raise InputError("`inputs` must name at least one image or folder, got none.")
    paths: list[Path | Unnamed] = []
    others = 0
    names: Sequence[str] = keep
    cells: list[tuple[Cell, ...]] = []
    for path in given:
        if root is not None and not is_list(path):
            raise InputError(
                f"`--root` is the folder of the images of a list, got {path}, which is not a list: leave it out, or "
                "give a CSV that lists the images."
            )
        if keep and not is_list(path):
            raise InputError(
                f"`--keep` copies columns of a list or table, got {path}: give a CSV that lists the images."
            )
        if path.is_dir():
            found = scan(path)
            others += len(found.others)
            paths += [path / name for name in found.images]
        elif is_list(path):
            table = read_table(path, empty=True, encoding=encoding)
            written = _names(path, table, columns)
            start = path.parent if root is None else expanded(root)
            texts = ["" if isinstance(name, Unnamed) else name for name in written]
            spellings = on_disk(start, texts, tree=Tree(start))
            paths += [
                name if isinstance(name, Unnamed) else start / (spelt or name)
                for name, spelt in zip(written, spellings, strict=True)
            ]
            if keep:
                own = passthrough_columns(table.frame, names)
                names = own.names
                cells += own.rows
        else:
            paths.append(path)
    if not paths:
        there = f" ({counted(others, 'other file')} there)" if others else ""
        raise InputError(f"There are no images below {listed(given)}{there}.")
    passthrough = PassthroughColumns(names=tuple(names), rows=tuple(cells)) if keep else None
    return Images(paths=paths, passthrough=passthrough)


def is_list(path: Path) -> bool:
    """Whether a path is a list of images, CSV or parquet."""
    return not path.is_dir() and path.suffix.lower() in (*CSV_SUFFIXES, *PARQUET_SUFFIXES)


def _names(path: Path, table: Table, columns: Sequence[str]) -> list[str | Unnamed]:
    """The image paths of a list, as written there."""
    frame = table.frame
    column = next((name for name in columns if name in frame.columns), None)
    if column is None:
        raise InputError(
            f"This model reads images, folders of images and lists with a column `{columns[0]}`, got a table "
            f"without one: {path} has {listed(frame.columns)}.{did_you_mean(columns[0], frame.columns)} If one of "
            "them names the images, name it with --path."
        )
    line = "line" if path.suffix.lower() in CSV_SUFFIXES else "row"
    names: list[str | Unnamed] = []
    for row, cell in zip(frame.index.tolist(), frame[column].tolist(), strict=True):
        name = cell.strip() if isinstance(cell, str) else ""
        if name:
            names.append(name)
        else:
            error = table.misfits.get(row, f"must have a `{column}`, got none")
            names.append(Unnamed(source=f"{path} {line} {row}", error=error))
    return names
