"""The request body of /v1/predict in OpenAPI, for the model that is served."""

from typing import Any

from onepeak.serving.http.json_rows import LARGEST
from onepeak.serving.http.limits import Limits
from onepeak.serving.model import Model
from onepeak.training.table import TableEncoder

_FILE = {"type": "string", "format": "binary"}


def request_body(model: Model, limits: Limits) -> dict[str, Any]:
    """Returns OpenAPI's `requestBody`.

    Args:
        model: A model of images or rows.
        limits: Limits on the number of items.
    """
    table = model.description.table
    content = _pictures(limits) if table is None else {"application/json": {"schema": _rows(table, limits)}}
    return {"required": True, "content": content}


def _pictures(limits: Limits) -> dict[str, Any]:
    form = {
        "type": "object",
        "description": f"Up to {limits.max_items} files; the names of their fields do not matter.",
        "properties": {"images": {"type": "array", "items": _FILE, "minItems": 1}},
        "required": ["images"],
        "additionalProperties": False,
    }
    one = {**_FILE, "minLength": 1, "description": "The file of one image."}
    return {kind: {"schema": one} for kind in ("image/*", "application/octet-stream")} | {
        "multipart/form-data": {"schema": form}
    }


def _rows(table: TableEncoder, limits: Limits) -> dict[str, Any]:
    number = {"type": ["number", "boolean", "null"], "minimum": -LARGEST, "maximum": LARGEST}
    text = {**number, "type": ["string", "number", "boolean", "null"]}
    columns = {name: text if name in table.categories else number for name in table.columns}
    row = {"type": "object", "properties": columns, "required": list(table.columns)}
    return {
        "type": "object",
        "description": f"Up to {limits.max_rows} rows with a value for each column of the model, not all null.",
        "properties": {"rows": {"type": "array", "items": row, "minItems": 1}},
        "required": ["rows"],
        "additionalProperties": False,
    }
