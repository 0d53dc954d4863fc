"""Reads rows of a table from the JSON body of a request, checking every value."""

import json
from collections.abc import Container, Sequence
from typing import Any, NoReturn

from onepeak._listing import listed
from onepeak.serving.http.failures import RequestError

LARGEST = 1e30
"""The largest accepted number: well within float32, even after division by a standard deviation."""


def rows_of_body(
    body: bytes, *, columns: Sequence[str], categories: Container[str], max_rows: int
) -> list[dict[str, Any]]:
    """Reads the rows of `{"rows": [{column: value, ...}, ...]}`; a value is a number, a string, true, false or null.

    Args:
        body: The whole body.
        columns: Columns that every row must have; others are ignored.
        categories: The columns that may hold strings.
        max_rows: The most rows.

    Raises:
        RequestError: The body has any other form.

    Example:
        >>> body = b'{"rows": [{"age": 41, "tone": "dark", "id": 7}]}'
        >>> rows_of_body(body, columns=["age", "tone"], categories=["tone"], max_rows=10)
        [{'age': 41, 'tone': 'dark'}]
    """
    try:
        content = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:  # not text, not JSON, a huge number, or nested too deeply
        raise RequestError(400, f"The body must be JSON, got unreadable content: {str(error)[:200]}.") from None
    if not isinstance(content, dict) or set(content) != {"rows"} or not isinstance(content["rows"], list):
        raise RequestError(400, 'The body must be {"rows": [...]}, and nothing beside the rows.')
    if not content["rows"]:
        raise RequestError(400, "`rows` must hold at least one row, got none.")
    if len(content["rows"]) > max_rows:
        raise RequestError(413, f"`rows` must hold at most {max_rows} rows, got {len(content['rows'])}: send several.")
    return [_row(place, row, columns, categories) for place, row in enumerate(content["rows"])]


def _row(place: int, row: object, columns: Sequence[str], categories: Container[str]) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise RequestError(400, f"`rows[{place}]` must be an object with one value per column, got {_kind(row)}.")
    gone = [name for name in columns if name not in row]
    if gone:
        raise RequestError(
            422,
            f"`rows[{place}]` must have the columns {listed(columns)}, it lacks {listed(gone)}: send null for a value "
            "that is missing.",
        )
    known = {name: row[name] for name in columns}
    for name, value in known.items():
        if isinstance(value, dict | list):
            raise RequestError(400, f"`rows[{place}]`: {name!r} must be one value, got {_kind(value)}.")
        if isinstance(value, str) and name not in categories:
            raise RequestError(422, f"`rows[{place}]`: {name!r} must be a number or null, got a string.")
        if isinstance(value, int | float) and not abs(value) <= LARGEST:  # infinite if it has too many digits
            raise RequestError(422, f"`rows[{place}]`: {name!r} must be within +-{LARGEST:g}, got more.")
    return known


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON: write null for a missing value")


def _kind(value: object) -> str:
    return {dict: "an object", list: "a list", str: "a string", type(None): "null"}.get(type(value), "a single value")
