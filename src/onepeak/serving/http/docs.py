"""The page /docs: the OpenAPI description as one readable page, without scripts and without network access."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from fastapi import APIRouter, FastAPI
from starlette.responses import FileResponse, HTMLResponse

PAGES = Path(__file__).parent / "pages"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One operation, as the page shows it."""

    method: str
    path: str
    summary: str
    description: str
    options: tuple[dict[str, Any], ...]
    """Query parameters, in OpenAPI's form."""
    bodies: dict[str, Any]
    """Request bodies, by content type."""
    answers: dict[str, str]
    """The meaning of each status."""


def docs_router(app: FastAPI) -> APIRouter:
    """The page and its stylesheet.

    Args:
        app: The app to describe, with all routes it has when the page is opened.
    """
    router = APIRouter(include_in_schema=False)
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(PAGES), autoescape=True)

    @router.get("/docs")
    def docs() -> HTMLResponse:
        description = app.openapi()
        page = environment.get_template("docs.html").render(
            info=description["info"],
            operations=list(operations(description)),
            records=description.get("components", {}).get("schemas", {}),
        )
        return HTMLResponse(page)

    @router.get("/docs.css")
    def style() -> FileResponse:
        return FileResponse(PAGES / "docs.css", media_type="text/css")

    return router


def operations(description: dict[str, Any]) -> Iterator[Operation]:
    """Yields all operations of an OpenAPI description."""
    for path, methods in description["paths"].items():
        for method, said in methods.items():
            yield Operation(
                method=method.upper(),
                path=path,
                summary=said.get("summary", ""),
                description=said.get("description", ""),
                options=tuple(each for each in said.get("parameters", ()) if each["in"] == "query"),
                bodies=said.get("requestBody", {}).get("content", {}),
                answers={status: answer["description"] for status, answer in said["responses"].items()},
            )
