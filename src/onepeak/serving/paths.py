"""Which picture files a user means by some paths, folders and lists."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from onepeak._nearest import did_you_mean
from onepeak.data.frame import PATH
from onepeak.data.listing import counted, listed
from onepeak.data.picture_list import on_disk
from onepeak.data.scan import scan
from onepeak.data.table_file import CSV_SUFFIXES, PARQUET_SUFFIXES, read_table
from onepeak.errors import InputError


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
    given = [Path(each).expanduser() for each in inputs]
    if not given:
        raise InputError("`inputs` must name at least one picture or folder, got none.")
    paths: list[Path] = []
    others = 0
    for path in given:
        if path.is_dir():
            found = scan(path)
            others += len(found.others)
            paths += [path / name for name in found.pictures]
        elif path.suffix.lower() in (*CSV_SUFFIXES, *PARQUET_SUFFIXES):
            paths += _of_list(path, columns)
        else:
            paths.append(path)
    if not paths:
        there = f" ({counted(others, 'other file')} there)" if others else ""
        raise InputError(f"There are no pictures below {listed(given)}{there}.")
    return paths


def _of_list(table: Path, columns: Sequence[str]) -> list[Path]:
    frame = read_table(table, as_text=columns).frame
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
