"""Resolves paths, folders and lists to image files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from onepeak._home import expanded
from onepeak._listing import counted, listed
from onepeak._nearest import did_you_mean
from onepeak.data.frame_columns import PATH
from onepeak.data.picture_list import on_disk
from onepeak.data.scan import scan
from onepeak.data.table_file import CSV_SUFFIXES, PARQUET_SUFFIXES, Table, read_table
from onepeak.errors import InputError
from onepeak.serving.kept import Cell, Kept, kept_columns


@dataclass(frozen=True, kw_only=True)
class Unnamed:
    """A row of a list that names no image."""

    source: str
    """The list and the line in it."""
    error: str


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """The images that paths, folders and lists stand for."""

    paths: list[Path | Unnamed]
    kept: Kept | None
    """Columns of the lists to copy into the output."""


def picture_paths(inputs: Iterable[str | Path], *, columns: Sequence[str] = (PATH,)) -> list[Path]:
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
        ...     [path.name for path in picture_paths([folder, "c.png"])]
        ['a.jpg', 'b.png', 'c.png']
    """
    paths = []
    for picture in pictures_and_columns(inputs, columns=columns).paths:
        if isinstance(picture, Unnamed):
            raise InputError(f"Every row of a list must name an image, but {picture.source} does not: {picture.error}.")
        paths.append(picture)
    return paths


def pictures_and_columns(
    inputs: Iterable[str | Path],
    *,
    columns: Sequence[str] = (PATH,),
    keep: Sequence[str] = (),
    root: str | Path | None = None,
) -> Pictures:
    """Returns the images as `picture_paths` does, with columns of their lists to copy into the output.

    A row of a list without an image, or with too few or too many fields, does not stop the others.

    Args:
        inputs: As for `picture_paths`; only lists if columns are kept or a root is given.
        columns: As for `picture_paths`.
        keep: See `onepeak.serving.kept.kept_columns`; every list must have these columns.
        root: The folder that listed paths are relative to, instead of each list's own.
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
            paths += [path / name for name in found.pictures]
        elif is_list(path):
            table = read_table(path, as_text=None, empty=True)
            written = _names(path, table, columns)
            start = path.parent if root is None else expanded(root)
            spellings = on_disk(start, ["" if isinstance(name, Unnamed) else name for name in written])
            paths += [
                name if isinstance(name, Unnamed) else start / (spelt or name)
                for name, spelt in zip(written, spellings, strict=True)
            ]
            if keep:
                own = kept_columns(table.frame, names)
                names = own.names
                cells += own.rows
        else:
            paths.append(path)
    if not paths:
        there = f" ({counted(others, 'other file')} there)" if others else ""
        raise InputError(f"There are no images below {listed(given)}{there}.")
    kept = Kept(names=tuple(names), rows=tuple(cells)) if keep else None
    return Pictures(paths=paths, kept=kept)


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
