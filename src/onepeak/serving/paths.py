"""Which picture files a user means by some paths and folders."""

from collections.abc import Iterable
from pathlib import Path

from onepeak.data.listing import counted, listed
from onepeak.data.scan import scan
from onepeak.data.table_file import CSV_SUFFIXES, PARQUET_SUFFIXES
from onepeak.errors import InputError


def picture_paths(inputs: Iterable[str | Path]) -> list[Path]:
    """Files as they are, folders as all pictures below them, sorted; files there that are no pictures are left out.

    Args:
        inputs: Files and folders. A file is kept whatever it is called, even one that is not there: who named it
            should hear about it.

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
    tables = [path for path in given if path.suffix.lower() in (*CSV_SUFFIXES, *PARQUET_SUFFIXES)]
    if tables:
        raise InputError(f"This model reads pictures and folders of pictures, got a table: {listed(tables)}.")
    paths: list[Path] = []
    others = 0
    for path in given:
        if path.is_dir():
            found = scan(path)
            others += len(found.others)
            paths += [path / name for name in found.pictures]
        else:
            paths.append(path)
    if not paths:
        there = f" ({counted(others, 'other file')} there)" if others else ""
        raise InputError(f"There are no pictures below {listed(given)}{there}.")
    return paths
