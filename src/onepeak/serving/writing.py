"""Rows of answers to a file, one by one as they come."""

import csv
import json
import math
from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from onepeak.errors import InputError
from onepeak.serving.kept import Kept, beside
from onepeak.serving.prediction import Row, SourceName, unlike_text

_BEFORE = ("label", "name", "lower", "upper", "lower_name", "upper_name")
_AFTER = ("soi", "unimodal", "paradoxical", "unlike", "error")
"""What is written of a row: in JSON the posterior stands between these, in CSV it comes last, a column a class."""


@runtime_checkable
class TextSink(Protocol):
    """What is needed of a file to write rows to it."""

    def write(self, text: str, /) -> int:
        """Takes some text."""

    def flush(self) -> None:
        """Passes on what it holds back."""


def check_kept(
    kept: Kept | None, *, source_name: SourceName, classes: tuple[str, ...], actions: Sequence[str] = ()
) -> None:
    """Refuses columns to keep that are called as columns of the answers.

    Args:
        kept: What is to stand beside the answers.
        source_name: What a sample is called by.
        classes: The classes in their order.
        actions: As for `write_csv`.
    """
    own = {source_name, *_BEFORE, *_named(actions), "probs", "log_probs", *_AFTER, *_posterior(classes)}
    for name in kept.names if kept else ():
        if name in own:
            raise InputError(
                f"`--keep` must name columns that are not called as those of the answers, got {name!r}: rename it in "
                f"the file, such as {f'given_{name}'!r}."
            )


def write_csv(
    rows: Iterable[Row],
    file: TextSink,
    *,
    source_name: SourceName,
    classes: tuple[str, ...],
    kept: Kept | None = None,
    actions: Sequence[str] = (),
) -> None:
    """Writes a header and a line a row; what a row does not have is empty.

    Args:
        rows: Taken as they come.
        file: Where to; flushed after every row, so that who reads along has each at once.
        source_name: What a sample is called by.
        classes: The classes in their order, for the columns of probabilities and of their logarithms.
        kept: Columns to write behind what a sample is called by, checked by `check_kept`.
        actions: What to do for each class, to write that of the class decided on; none to leave the column out.

    Example:
        >>> import sys
        >>> write_csv([Row(source="a.png", error="empty")], sys.stdout, source_name="path", classes=("low", "high"))
        path,label,name,lower,upper,lower_name,upper_name,soi,unimodal,paradoxical,unlike,error,p_low,...
        a.png,,,,,,,,,,,empty,,,,
    """
    writer = csv.writer(file, lineterminator="\n")
    names = kept.names if kept else ()
    writer.writerow([source_name, *names, *_BEFORE, *_named(actions), *_AFTER, *_posterior(classes)])
    for row, cells in beside(rows, kept):
        written = {**vars(row), "unlike": unlike_text(row.unlike)}
        before, after = ([written[column] for column in columns] for columns in (_BEFORE, _AFTER))
        answer = (*before, *_action(row, actions).values(), *after)
        none = (None,) * len(classes)
        writer.writerow([row.source, *cells, *answer, *(row.probs or none), *(row.log_probs or none)])
        file.flush()


def write_json_lines(
    rows: Iterable[Row],
    file: TextSink,
    *,
    source_name: SourceName,
    kept: Kept | None = None,
    actions: Sequence[str] = (),
) -> None:
    """Writes an object a line. JSON has no infinity: the logarithm of a probability of zero is null.

    Args:
        rows: Taken as they come.
        file: Where to; flushed after every row.
        source_name: What a sample is called by.
        kept: As for `write_csv`.
        actions: As for `write_csv`.

    Example:
        >>> import sys
        >>> row = Row(source=2, label=0, name="low", log_probs=(0.0, -math.inf), soi=1.0, unimodal=True)
        >>> write_json_lines([row], sys.stdout, source_name="line")
        {"line": 2, "label": 0, "name": "low", ... "probs": [1.0, 0.0], "log_probs": [0.0, null], "soi": 1.0, ...}
    """
    for row, cells in beside(rows, kept):
        log_probs = None
        if row.log_probs is not None:
            log_probs = [value if math.isfinite(value) else None for value in row.log_probs]
        record = {
            source_name: row.source,
            **dict(zip(kept.names if kept else (), cells, strict=True)),
            **{column: getattr(row, column) for column in _BEFORE},
            **_action(row, actions),
            "probs": row.probs,
            "log_probs": log_probs,
            **{column: getattr(row, column) for column in _AFTER},
        }
        file.write(json.dumps(record, allow_nan=False) + "\n")
        file.flush()


def _named(actions: Sequence[str]) -> tuple[str, ...]:
    return ("action",) if actions else ()


def _action(row: Row, actions: Sequence[str]) -> dict[str, str | None]:
    return {"action": None if row.label is None else actions[row.label]} if actions else {}


def _posterior(classes: tuple[str, ...]) -> list[str]:
    return [f"{number}_{name}" for number in ("p", "log_prob") for name in classes]
