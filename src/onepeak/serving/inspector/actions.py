"""What to do for each label, such as the treatment of each grade: the list that a confused posterior makes absurd."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from onepeak.errors import InputError

COLUMNS = ("label", "action")


def read_actions(path: Path, classes: Sequence[str]) -> tuple[str, ...]:
    """Reads a CSV with the columns label and action, one line a class.

    Args:
        path: The file.
        classes: The classes in their order.

    Returns:
        The action of each class, in the order of the classes.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "actions.csv"
        ...     _ = path.write_text("label,action" + chr(10) + "low,wait" + chr(10) + "high,operate")
        ...     read_actions(path, ("low", "high"))
        ('wait', 'operate')
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"`actions` must be a CSV file in UTF-8, got {path}, which cannot be read: {error}.") from None
    reader = csv.DictReader(io.StringIO(text))
    names = reader.fieldnames or ()
    if not set(COLUMNS) <= set(names):
        raise InputError(f"{path} must have the columns {', '.join(COLUMNS)}, got {', '.join(names) or 'none'}.")
    found: dict[str, str] = {}
    for line in reader:
        label = (line["label"] or "").strip()
        if label not in classes or label in found:
            wrong = "twice" if label in found else f"which is no class: {', '.join(classes)}"
            raise InputError(
                f"{path}, line {reader.line_num}: `label` must name each class once, got {label!r} {wrong}."
            )
        found[label] = (line["action"] or "").strip()
    missing = [name for name in classes if not found.get(name)]
    if missing:
        raise InputError(f"{path} must have an action for every class, got none for {', '.join(missing)}.")
    return tuple(found[name] for name in classes)
