"""Reads images from the body of a request: a single image, or several in a form."""

import asyncio
import json
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from python_multipart import FormParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, parse_options_header
from starlette.requests import Request

from onepeak._core.wording import listed
from onepeak.data.images.decode import num_pixels_of
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Limits, Share
from onepeak.serving.model import Model
from onepeak.training.table_encoder import TableEncoder

FORM = "multipart/form-data"


@dataclass(frozen=True, kw_only=True)
class Upload:
    """One file. Its format is recognised by its bytes; its name is only repeated in the answer."""

    name: str | None
    """The client's name for it, if given."""
    data: bytes = field(repr=False)
    group: str = field(default="", repr=False)
    """The name of its field in the form: images of one field are of one group, if groups are asked for."""
    pixels: int = 0
    """How many pixels it has, by its header."""


def uploads_of(body: bytes, content_type: str, *, max_items: int) -> list[Upload]:
    """Returns the files in the body of a request: itself, or those of a form, which must hold nothing else."""
    kind, options = parse_options_header(content_type)
    if kind != FORM.encode():
        return [Upload(name=None, data=body, pixels=num_pixels_of(body))]
    files: list[Upload] = []
    end: list[bool] = []

    def add(file: File) -> None:
        if len(files) == max_items:
            raise RequestError(413, f"A request must hold at most {max_items} images, got more: send several.")
        name = (file.file_name or b"").decode("utf-8", "replace")
        data: bytes = file.file_object.getvalue()  # type: ignore[union-attr]
        group = (file.field_name or b"").decode("utf-8", "replace")
        files.append(Upload(name=name or None, data=data, group=group, pixels=num_pixels_of(data)))

    def refuse(_: Field) -> NoReturn:
        raise RequestError(400, "Every part of the form must be a file; options go in the query string.")

    in_memory = {"MAX_MEMORY_FILE_SIZE": len(body) + 1}
    try:
        boundary = options.get(b"boundary", b"")
        parser = FormParser(FORM, refuse, add, lambda: end.append(True), boundary=boundary, config=in_memory)
        parser.write(body)
        parser.finalize()
    except FormParserError as error:
        raise RequestError(400, f"The form must be well-formed multipart/form-data: {error}.") from None
    if not end:
        raise RequestError(400, "The form must end with its boundary, got a truncated one: send it again.")
    if not files:
        raise RequestError(400, "The form must hold at least one file, got none: send each image as a file.")
    return files


async def read_body(request: Request, limits: Limits, share: Share, *, values: bool = False) -> bytes:
    """Reads the body.

    A body that is too large is read and discarded for a while: a client that is still sending would not see the answer.
    Of JSON, `values` are counted too: parsed, they take far more than their text.
    """
    if "content-length" in request.headers and "transfer-encoding" in request.headers:
        raise RequestError(400, "A request has a length or is in chunks, not both.", headers={"Connection": "close"})
    body = bytearray()
    size, held, refusal = 0, 0, ""
    try:
        async with asyncio.timeout(limits.upload_seconds):
            async for piece in request.stream():
                size += len(piece)
                held += (room := len(piece) + (size_of_json(piece) if values else 0))
                if size > limits.max_bytes:
                    refusal = f"The body must have at most {limits.max_bytes} bytes, got more: send fewer samples."
                elif held > limits.max_buffered_bytes:
                    refusal = "The rows hold too many values: send several requests."
                if not refusal:
                    share.take("bytes", room)
                    body += piece
                    continue
                body.clear()
                share.give_back("bytes")
                if size > 4 * limits.max_bytes:
                    break
    except TimeoutError:
        if not refusal:
            raise RequestError(
                408,
                f"The body must arrive within {limits.upload_seconds:g} s, got {size} bytes in that time.",
                headers={"Connection": "close"},
            ) from None
    if refusal:
        raise RequestError(413, refusal, headers={"Connection": "close"})
    if not size:
        raise RequestError(400, "The file is empty. /docs shows what to send.")
    return bytes(body)


BYTES_A_VALUE = 80
"""What a value of JSON takes in memory on average: a number of a list 40, one of an object 140 with its new name."""


def size_of_json(body: bytes) -> int:
    """Returns how many bytes the values of a JSON text take at most, without parsing it.

    Example:
        >>> size_of_json(b'{"rows": [{"age": 41}, {"age": 42}]}') // BYTES_A_VALUE
        8
    """
    characters = np.frombuffer(body, np.uint8)  # counts without holding up other threads
    return BYTES_A_VALUE * sum(int(np.count_nonzero(characters == sign)) for sign in b"[{:,")


LARGEST = 1e30
"""The largest accepted number: well within float32, even after division by a standard deviation."""


def rows_of_body(
    body: bytes, *, columns: Sequence[str], categories: Container[str], max_rows: int
) -> list[dict[str, Any]]:
    """Reads the rows of `{"rows": [{column: value, ...}, ...]}`; a value is a number, a string, true, false or null."""
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


_FILE = {"type": "string", "format": "binary"}


def request_body(model: Model, limits: Limits) -> dict[str, Any]:
    """Returns OpenAPI's `requestBody`."""
    table = model.description.table
    content = _images(limits) if table is None else {"application/json": {"schema": _rows(table, limits)}}
    return {"required": True, "content": content}


def _images(limits: Limits) -> dict[str, Any]:
    form = {
        "type": "object",
        "description": f"Up to {limits.max_items} files; the names of their fields matter only with `combine`.",
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
    columns = {name: text if name in table.named_columns else number for name in table.given_columns}
    row = {"type": "object", "properties": columns, "required": list(table.given_columns)}
    return {
        "type": "object",
        "description": f"Up to {limits.max_rows} rows with a value for each column of the model, not all null.",
        "properties": {"rows": {"type": "array", "items": row, "minItems": 1}},
        "required": ["rows"],
        "additionalProperties": False,
    }
