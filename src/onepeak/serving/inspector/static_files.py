"""The scripts and styles of the pages: our own, and plotly's from its package. No other file can be requested."""

import importlib.util
from functools import cache
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, Response

from onepeak.errors import MissingExtraError
from onepeak.serving.http.failures import RequestError

_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PLOTLY = "plotly.min.js"
A_WHILE = {"Cache-Control": "private, max-age=3600"}
"""For files that do not change while the server runs."""


def static_router() -> APIRouter:
    """The addresses of all files."""
    router = APIRouter(include_in_schema=False)

    @router.get(f"/static/{PLOTLY}")
    def plotly() -> FileResponse:
        return FileResponse(plotly_file(), media_type="text/javascript", headers=A_WHILE)

    @router.get("/static/{name}")
    def static(name: str) -> Response:
        content, kind = static_files().get(name, (b"", ""))
        if not kind:
            raise RequestError(404, "There is no such file.")
        return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})

    return router


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """Our own files by name, with content and type."""
    place = files("onepeak.serving.inspector") / "static"
    return {
        each.name: (each.read_bytes(), _TYPES[Path(each.name).suffix])
        for each in place.iterdir()
        if Path(each.name).suffix in _TYPES
    }


@cache
def plotly_file() -> Path:
    """Returns the path of plotly's script without importing plotly, which is slow."""
    package = importlib.util.find_spec("plotly")
    places = [] if package is None else list(package.submodule_search_locations or ())
    path = Path(places[0], "package_data", PLOTLY) if places else None
    if path is None or not path.is_file():
        raise MissingExtraError("The charts need plotly: pip install 'onepeak[serve]'")
    return path
