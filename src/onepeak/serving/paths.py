"""Which picture files a user means by some paths, folders and lists."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from onepeak._nearest import did_you_mean
from onepeak.data.frame import PATH
from onepeak.data.frame_types import Frame
from onepeak.data.listing import counted, listed
from onepeak.data.picture_list import on_disk
from onepeak.data.scan import scan
from onepeak.data.table_file import CSV_SUFFIXES, PARQUET_SUFFIXES, read_table
from onepeak.errors import InputError
from onepeak.serving.kept import Cell, Kept, kept_columns


def picture_paths(inputs: Iterable[str | Path], *, columns: Sequence[str] = (PATH,)) -> list[Path]:
    """Files as they are, folders as all pictures below them, sorted; files there that are no pictures are left out.

    A CSV or parquet stands for the pictures of one of its columns, in its order, which start from its own folder.

    Args:
        inputs: Files, folders and lists. A file is kept whatever it is called, even one that is not there: who named it
            should hear about it.
        columns: What the column of a list may be called; the first of them that is there is taken.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("b.png", "a.jpg", "notes.txt"):
        ...         _ = (Path(folder) / name).write_bytes(b"")
        ...     [path.name for path in picture_paths([folder, "c.png"])]
        ['a.jpg', 'b.png', 'c.png']
    """
    return pictures_and_columns(inputs, columns=columns)[0]


def pictures_and_columns(
    inputs: Iterable[str | Path], *, columns: Sequence[str] = (PATH,), keep: Sequence[str] = ()
) -> tuple[list[Path], Kept | None]:
    """The pictures as `picture_paths` gives them, and columns of their lists to copy beside the answers.

    Args:
        inputs: As there; nothing but lists, if columns are to be kept.
        columns: As there.
        keep: See `onepeak.serving.kept.kept_columns`; every list must have them.
    """
    given = [Path(each).expanduser() for each in inputs]
    if not given:
        raise InputError("`inputs` must name at least one picture or folder, got none.")
    paths: list[Path] = []
    others = 0
    names: Sequence[str] = keep
    cells: list[tuple[Cell, ...]] = []
    for path in given:
        is_list = not path.is_dir() and path.suffix.lower() in (*CSV_SUFFIXES, *PARQUET_SUFFIXES)
        if keep and not is_list:
            raise InputError(
                f"`--keep` copies columns of a list or table, got {path}: give a CSV that lists the pictures."
            )
        if path.is_dir():
            found = scan(path)
            others += len(found.others)
            paths += [path / name for name in found.pictures]
        elif is_list:
            frame = read_table(path, as_text=None).frame
            paths += _of_list(path, frame, columns)
            if keep:
                kept = kept_columns(frame, names)
                names = kept.names
                cells += kept.rows
        else:
            paths.append(path)
    if not paths:
        there = f" ({counted(others, 'other file')} there)" if others else ""
        raise InputError(f"There are no pictures below {listed(given)}{there}.")
    return paths, Kept(names=tuple(names), rows=tuple(cells)) if keep else None


def _of_list(table: Path, frame: Frame, columns: Sequence[str]) -> list[Path]:
    column = next((name for name in columns if name in frame.columns), None)
    if column is None:
        raise InputError(
            f"This model reads pictures, folders of pictures and lists with a column `{columns[0]}`, got a table "
            f"without one: {table} has {listed(frame.columns)}.{did_you_mean(columns[0], frame.columns)} If one of "
            "them names the pictures, say it with --path."
        )
    names = [name.strip() if isinstance(name, str) else "" for name in frame[column]]
    if "" in names:
        raise InputError(f"Every row of {table} must have a `{column}`, row {frame.index[names.index('')]} has none.")
    return [table.parent / (on_disk(table.parent, name) or name) for name in names]
