"""The action to take for each label, such as the treatment of each grade. Loads without torch."""

from collections.abc import Sequence
from pathlib import Path

from onepeak.data.tables.read import csv_rows
from onepeak.errors import InputError

COLUMNS = ("label", "action")


def read_actions(path: Path | None, classes: Sequence[str]) -> tuple[str, ...]:
    """Reads a CSV (comma, semicolon or tab) with the columns label and action, one line per class.

    Returns:
        The action of each class, in the order of the classes; empty without a file.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "actions.csv"
        ...     _ = path.write_text("label,action" + chr(10) + "low,wait" + chr(10) + "high,operate")
        ...     read_actions(path, ("low", "high"))
        ('wait', 'operate')
    """
    if path is None:
        return ()
    (_, *lines), (header, *rows), _ = csv_rows(path)
    names = [name.strip() for name in header]
    if not set(COLUMNS) <= set(names):
        raise InputError(f"{path} must have the columns {', '.join(COLUMNS)}, got {', '.join(names)}.")
    found: dict[str, str] = {}
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(names):
            raise InputError(f"{path}, line {line} must have {len(names)} fields, like the header, got {len(row)}.")
        cells = dict(zip(names, row, strict=True))
        label = cells["label"].strip()
        if label not in classes or label in found:
            wrong = "twice" if label in found else f"which is not a class: {', '.join(classes)}"
            raise InputError(f"{path}, line {line}: `label` must name each class once, got {label!r} {wrong}.")
        found[label] = cells["action"].strip()
    missing = [name for name in classes if not found.get(name)]
    if missing:
        raise InputError(f"{path} must have an action for every class, got none for {', '.join(missing)}.")
    return tuple(found[name] for name in classes)
