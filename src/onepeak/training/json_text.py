"""Records as JSON that every reader accepts."""

import json
import math
from numbers import Integral, Real
from typing import Any


def json_text(content: Any) -> str:
    """Returns JSON text; numbers that JSON cannot represent (NaN and infinities) become null.

    Example:
        >>> json_text({"tau": float("nan"), "mae": 0.5}).split()
        ['{', '"tau":', 'null,', '"mae":', '0.5', '}']
    """
    return json.dumps(_written(content), indent=2, allow_nan=False)


def numbers(content: dict[str, Any]) -> dict[str, float]:
    """Restores figures read from JSON: null becomes NaN again."""
    return {name: math.nan if value is None else value for name, value in content.items()}


def _written(content: Any) -> Any:
    if not isinstance(content, bool | int) and isinstance(content, Real):  # including NumPy's
        content = int(content) if isinstance(content, Integral) else float(content)
    if isinstance(content, dict):
        return {name: _written(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_written(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
