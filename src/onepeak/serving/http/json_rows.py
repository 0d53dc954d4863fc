"""Rows of a table as they lie in the body of a request: JSON, checked down to the single value."""

import json
from collections.abc import Container, Sequence
from typing import Any, NoReturn

from onepeak._listing import listed
from onepeak.serving.http.failures import RequestError

LARGEST = 1e30
"""The largest number that is taken: well within 32 bits, also when it is divided by a deviation."""


def rows_of_body(
    body: bytes, *, columns: Sequence[str], categories: Container[str], max_rows: int
) -> list[dict[str, Any]]:
    """The rows of `{"rows": [{column: value, ...}, ...]}`; a value is a number, a text, true, false or null.

    Args:
        body: All of it.
        columns: What every row must have; others are left out.
        categories: Those of them that may be a text.
        max_rows: The most rows.

    Raises:
        RequestError: The body is anything else.

    Example:
        >>> body = b'{"rows": [{"age": 41, "tone": "dark", "id": 7}]}'
        >>> rows_of_body(body, columns=["age", "tone"], categories=["tone"], max_rows=10)
        [{'age': 41, 'tone': 'dark'}]
    """
    try:
        content = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:  # no text, no JSON, a number of a million digits, or nested deeply
        raise RequestError(400, f"The body must be JSON, got what cannot be read: {str(error)[:200]}.") from None
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
            raise RequestError(422, f"`rows[{place}]`: {name!r} must be a number or null, got a text.")
        if isinstance(value, int | float) and not abs(value) <= LARGEST:  # infinite, if it has too many digits
            raise RequestError(422, f"`rows[{place}]`: {name!r} must be within +-{LARGEST:g}, got more.")
    return known


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON: write null for a missing value")


def _kind(value: object) -> str:
    return {dict: "an object", list: "a list", str: "a text", type(None): "null"}.get(type(value), "a single value")
