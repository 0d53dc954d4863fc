"""Rows of a table as they lie in the body of a request: JSON, checked down to the single value."""

import json
import math
from typing import Any, NoReturn

from onepeak.serving.http.failures import RequestError

_LARGEST = 3.4e38
"""What a number of 32 bits can hold."""


def rows_of_body(body: bytes, *, max_rows: int) -> list[dict[str, Any]]:
    """The rows of `{"rows": [{column: value, ...}, ...]}`; a value is a number, a text, true, false or null.

    Args:
        body: All of it.
        max_rows: The most rows.

    Raises:
        RequestError: The body is anything else.

    Example:
        >>> rows_of_body(b'{"rows": [{"age": 41, "tone": null}]}', max_rows=10)
        [{'age': 41, 'tone': None}]
    """
    try:
        content = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:  # no text, no JSON, a number of a million digits, or nested deeply
        raise RequestError(400, f"The body must be JSON, got what cannot be read: {str(error)[:200]}.") from None
    if not isinstance(content, dict) or set(content) != {"rows"} or not isinstance(content["rows"], list):
        raise RequestError(400, 'The body must be {"rows": [...]}, and nothing beside the rows.')
    rows: list[dict[str, Any]] = content["rows"]
    if not rows:
        raise RequestError(400, "`rows` must hold at least one row, got none.")
    if len(rows) > max_rows:
        raise RequestError(413, f"`rows` must hold at most {max_rows} rows, got {len(rows)}: send several requests.")
    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            raise RequestError(400, f"`rows[{place}]` must be an object with a value a column, got {_kind(row)}.")
        for column, value in row.items():
            if isinstance(value, dict | list):
                raise RequestError(400, f"`rows[{place}]`: {column[:100]!r} must be one value, got {_kind(value)}.")
            if isinstance(value, int | float) and not (math.isfinite(value) and abs(value) <= _LARGEST):
                raise RequestError(400, f"`rows[{place}]`: {column[:100]!r} must be within +-{_LARGEST:g}, got more.")
    return rows


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON: write null for a missing value")


def _kind(value: object) -> str:
    return {dict: "an object", list: "a list", str: "a text", type(None): "null"}.get(type(value), "a single value")
