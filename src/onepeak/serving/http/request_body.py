"""What may be sent to /v1/predict, as OpenAPI describes it for the model that is served."""

from typing import Any

from onepeak.serving.http.limits import Limits
from onepeak.serving.model import Model
from onepeak.training.table import TableEncoder

_FILE = {"type": "string", "format": "binary", "minLength": 1}


def request_body(model: Model, limits: Limits) -> dict[str, Any]:
    """The `requestBody` of OpenAPI.

    Args:
        model: Of pictures or of rows.
        limits: On how many.
    """
    table = model.description.table
    content = _pictures(limits) if table is None else {"application/json": {"schema": _rows(table, limits)}}
    return {"required": True, "content": content}


def _pictures(limits: Limits) -> dict[str, Any]:
    many = {"type": "array", "items": _FILE, "minItems": 1, "maxItems": limits.max_items}
    form = {
        "type": "object",
        "description": "Any number of files; the names of their fields do not matter.",
        "properties": {"images": many},
        "required": ["images"],
        "additionalProperties": False,
    }
    one = {**_FILE, "description": "The file of one picture."}
    return {kind: {"schema": one} for kind in ("image/*", "application/octet-stream")} | {
        "multipart/form-data": {"schema": form}
    }


def _rows(table: TableEncoder, limits: Limits) -> dict[str, Any]:
    columns = {
        name: {"type": ["string", "number", "null"]}
        if name in table.categories
        else {"type": ["number", "null"], "minimum": -1e30, "maximum": 1e30}
        for name in table.columns
    }
    row = {"type": "object", "properties": columns, "required": list(table.columns)}
    rows = {"type": "array", "items": row, "minItems": 1, "maxItems": limits.max_rows}
    return {
        "type": "object",
        "description": "Rows with a value for each column of the model.",
        "properties": {"rows": rows},
        "required": ["rows"],
        "additionalProperties": False,
    }
