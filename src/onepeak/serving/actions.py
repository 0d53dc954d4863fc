"""The action to take for each label, such as the treatment of each grade. Loads without torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from onepeak.data.tables.read import csv_rows
from onepeak.errors import InputError

if TYPE_CHECKING:
    from onepeak.posterior.predictions import Row

COLUMNS = ("label", "action")
Unsure: TypeAlias = Literal["highest", "lowest", "ask"]
ASK = "ask a person"


def action_of(row: "Row", actions: Sequence[str], *, unsure: Unsure) -> str | None:
    """Returns what to do for a sample: the action of its class, if its interval is that class.

    Where the interval holds several classes it is the action of the highest or of the lowest, whichever the user calls
    worst, or to ask a person. A person is asked, too, where the sample is unlike the training or the model's policy
    refers it.

    Example:
        >>> from onepeak.posterior.predictions import Row
        >>> row = Row(source=0, predicted_class="low", predicted_index=0, lower=0, upper=1)
        >>> [action_of(row, ("wait", "operate"), unsure=unsure) for unsure in ("highest", "lowest", "ask")]
        ['operate', 'wait', 'ask a person']
    """
    if row.predicted_index is None:
        return None
    lower = row.predicted_index if row.lower is None else row.lower
    upper = row.predicted_index if row.upper is None else row.upper
    if row.unlike or row.refer or (unsure == "ask" and lower < upper):
        return ASK
    return actions[lower if unsure == "lowest" else upper]


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
