"""Error responses: JSON under /v1, a plain page elsewhere, never a traceback."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from onepeak.errors import InputError, OnepeakError

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "upload_too_slow",
    413: "too_large",
    415: "unsupported_media_type",
    421: "wrong_host",
    422: "cannot_be_answered",
    500: "internal_error",
    503: "busy",
}
"""The code for each status in use."""


class RequestError(OnepeakError):
    """A request that is refused."""

    def __init__(self, status: int, message: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})


class JsonResponse(Response):
    """JSON in plain ASCII, so that any text of a request can be quoted; NaN and infinities raise an error."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Returns the bytes of the body."""
        return json_bytes(content)


def json_bytes(content: Any) -> bytes:
    """Writes JSON in plain ASCII."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


PAGES = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent / "pages"), autoescape=True)


def failure(path: str, status: int, message: str, *, headers: Mapping[str, str] | None = None) -> Response:
    """Returns the response to a request that failed.

    Example:
        >>> failure("/v1/predict", 415, "Send an image.").body
        b'{"error":{"code":"unsupported_media_type","message":"Send an image."}}'
    """
    if path.startswith("/v1") or path == "/readyz":
        error = {"code": CODES[status], "message": message}
        return JsonResponse({"error": error}, status_code=status, headers=dict(headers or {}))
    title = CODES[status].replace("_", " ").capitalize()
    text = message.encode("utf-8", "replace").decode()
    page = PAGES.get_template("failure.html").render(title=title, text=text)
    return HTMLResponse(page, status_code=status, headers=dict(headers or {}))


def answer_failures(app: FastAPI) -> None:
    """Makes an app answer the errors that its routes raise; unforeseen ones are left to `SecureAnswers`."""

    def refused(request: Request, error: Exception) -> Response:
        match error:
            case RequestError():
                return failure(request.url.path, error.status, str(error), headers=error.headers)
            case HTTPException():
                status = error.status_code if error.status_code in CODES else 400
                message = _SENTENCES.get(status, str(error.detail))
                return failure(request.url.path, status, message, headers=error.headers)
            case RequestValidationError():
                return failure(request.url.path, 422, _first_problem(error))
            case _:
                return failure(request.url.path, 422, str(error))

    for kind in (RequestError, HTTPException, RequestValidationError, InputError):
        app.add_exception_handler(kind, refused)


_SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not accept this method: see /docs.",
}


def _first_problem(error: RequestValidationError) -> str:
    """Turns pydantic's first error into one sentence."""
    first = error.errors()[0]
    name = str(first["loc"][1]) if len(first["loc"]) > 1 else "The request"  # the rest are pydantic's own types
    if first["type"] == "extra_forbidden":
        return f"`{name[:100]}` is not an option of this address: see /docs."
    return f"`{name}`: {first['msg']}, got {str(first.get('input'))[:100]!r}."
