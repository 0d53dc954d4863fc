"""The scripts and styles of the pages: our own, and plotly's from its package. Nothing else can be asked for."""

import importlib.util
from functools import cache
from importlib.resources import files
from pathlib import Path

from onepeak.errors import MissingExtraError

_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PLOTLY = "plotly.min.js"


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """Our own files, by name: their content and type."""
    place = files("onepeak.serving.inspector") / "static"
    return {
        each.name: (each.read_bytes(), _TYPES[Path(each.name).suffix])
        for each in place.iterdir()
        if Path(each.name).suffix in _TYPES
    }


@cache
def plotly_file() -> Path:
    """Where plotly keeps its script; found without importing plotly, which takes a while."""
    package = importlib.util.find_spec("plotly")
    places = [] if package is None else list(package.submodule_search_locations or ())
    path = Path(places[0], "package_data", PLOTLY) if places else None
    if path is None or not path.is_file():
        raise MissingExtraError("The charts need plotly: pip install 'onepeak[serve]'")
    return path
