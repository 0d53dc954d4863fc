"""The addresses of the inspector. Samples are named by number and runs by known names; no address contains a path."""

import importlib.util
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib.resources import files
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field
from starlette.responses import FileResponse, HTMLResponse, Response

from onepeak._version import __version__
from onepeak.errors import MissingExtraError
from onepeak.serving.http.failures import JsonResponse, RequestError
from onepeak.serving.inspector.inspection import Filter, Inspection
from onepeak.serving.inspector.pages import (
    CHOICES,
    SamplePage,
    Shell,
    TryPage,
    choice_page,
    model_card,
    model_columns,
    overview_page,
    part_names,
    render,
    shell,
)

if TYPE_CHECKING:  # the first page comes before torch is loaded
    from onepeak.serving.model import Model
    from onepeak.serving.posterior_options import PosteriorOptions


DATA = "/v1/inspect"
"""Where the pages fetch their figures: below /v1, so that errors are JSON too."""
_MOST_ITEM = 2**31

# Named `tested` in addresses, because the filter of the same request may have a `part` too.
PartName = Annotated[str, Path(pattern=r"^\d{1,6}-\d{1,6}$")]
Item = Annotated[int, Path(ge=0, le=_MOST_ITEM)]
Label = Annotated[int, Query(ge=0)]


class NoteBody(BaseModel):
    """The body of a request that puts a note on a sample."""

    flag: bool = False
    note: str = Field(default="", max_length=2000)


def inspector_router(
    inspection: Inspection, *, columns: Mapping[str, tuple[str, ...] | None] | None = None, card: str = ""
) -> APIRouter:
    """Returns the pages of an inspection and the data they fetch.

    Args:
        inspection: The inspection.
        columns: The columns of the model behind /v1/predict, empty for an image model; None without a model, and then
            there is no page to try it.
        card: The card of that model, as HTML.
    """
    router, figures = static_router(), APIRouter(prefix=DATA, include_in_schema=False)
    parts = part_names(inspection.parts)
    warming = threading.Lock()  # never released

    def warm() -> None:
        """Reads the posteriors ahead of their first page; stopping the server does not wait for this."""
        if warming.acquire(blocking=False):
            threading.Thread(target=inspection.prepare, daemon=True).start()

    _add_pages(router, inspection, parts, columns, card, warm)
    _add_images(router, inspection)
    _add_first_figures(figures, inspection, parts, warm)
    _add_posteriors(figures, inspection, parts)
    router.include_router(figures)
    return router


def try_router(
    model: "Model", *, folder: FilePath | None = None, posterior_options: "PosteriorOptions | None" = None
) -> APIRouter:
    """Returns the page to try a model, as the first page of its server; it calls /v1/predict, and shows its card."""
    router = static_router()
    card = "" if folder is None else model_card(folder)
    choices = () if posterior_options is None else posterior_options.choices
    around = Shell(
        title=model.description.data or "A model",
        subtitle=", ".join((f"{len(model.classes)} classes", model.description.method, *choices)),
        version=__version__,
        places={"Try it": "/", "Interface": "/docs"},
    )

    @router.get("/")
    def try_it() -> HTMLResponse:
        return _html(TryPage(shell=around, columns=model_columns(model), card=card))

    return router


def _add_pages(
    router: APIRouter,
    inspection: Inspection,
    parts: Mapping[str, str],
    columns: Mapping[str, tuple[str, ...] | None] | None,
    card: str,
    warm: Callable[[], None],
) -> None:
    around = shell(inspection, can_try=columns is not None)

    @router.get("/")
    def first() -> HTMLResponse:
        return _html(overview_page(inspection, around))

    def chosen(name: str) -> Callable[[], HTMLResponse]:
        def page() -> HTMLResponse:
            warm()  # while the browser still loads the page
            return _html(choice_page(name, inspection, around))

        return page

    for name in CHOICES:
        if f"/{name}" in around.places.values():
            router.get(f"/{name}")(chosen(name))

    @router.get("/sample/{tested}/{item}")
    def sample(tested: PartName, item: Item) -> HTMLResponse:
        part = _known("part", tested, parts)
        return _html(SamplePage(shell=around, part=part, item=item, has_actions=bool(inspection.actions)))

    @router.get("/try")
    def try_it() -> HTMLResponse:
        if columns is None:
            raise RequestError(404, "There is no model to try: give one with --model.")
        return _html(TryPage(shell=around, columns=columns, card=card))


def _add_first_figures(
    router: APIRouter, inspection: Inspection, parts: Mapping[str, str], warm: Callable[[], None]
) -> None:
    """Adds what every script needs, and the figures of the first page."""

    @router.get("/about")
    def about() -> JsonResponse:
        looks = {row: asdict(look) for row, look in inspection.looks.items()}
        return JsonResponse(
            {"classes": inspection.classes, "looks": looks, "parts": parts, "actions": inspection.actions}
        )

    @router.get("/overview")
    def overview() -> JsonResponse:
        return JsonResponse(asdict(inspection.overview))

    @router.get("/curves")
    def curves() -> JsonResponse:
        rows = inspection.curves.items()
        return JsonResponse({name: {row: asdict(course) for row, course in found.items()} for name, found in rows})

    @router.get("/findings")
    def findings() -> JsonResponse:
        found = inspection.findings
        warm()  # the first page is complete, and its reader will open the samples next
        return JsonResponse([asdict(each) for each in found])


def _add_posteriors(router: APIRouter, inspection: Inspection, parts: Mapping[str, str]) -> None:
    """Adds samples of a filter, a single sample, and all samples with one predicted label."""
    query = Annotated[Filter, Depends(_wanted(inspection, parts))]

    @router.get("/samples")
    def samples(query: query, page: Annotated[int, Query(ge=1)] = 1) -> JsonResponse:
        return JsonResponse(asdict(inspection.posteriors.page(query, page)))

    @router.get("/sample/{tested}/{item}")
    def sample(tested: PartName, item: Item, query: query) -> JsonResponse:
        return JsonResponse(asdict(inspection.posteriors.sample(_known("part", tested, parts), item, query)))

    @router.get("/evidence/{tested}/{item}")
    def evidence(tested: PartName, item: Item, method: str, label: Label) -> JsonResponse:
        _check_label(label, inspection)
        found = inspection.posteriors.evidence(_known("method", method, inspection.looks), tested, item, label)
        return _found(found, "There is no evidence map of this sample.")

    @router.get("/words/{tested}/{item}")
    def words(tested: PartName, item: Item, method: str) -> JsonResponse:
        found = inspection.posteriors.words(_known("method", method, inspection.looks), tested, item)
        return _found(None if found is None else asdict(found), "There is no text of this sample, or no model.")

    @router.get("/columns/{tested}")
    def columns(tested: PartName, method: str) -> JsonResponse:
        found = inspection.posteriors.columns(_known("method", method, inspection.looks), tested)
        told = None if found is None else [{**asdict(each), "cut": each.strongest_cut()} for each in found]
        return _found(told, "There is no table, or no model of this run.")

    @router.get("/map")
    def sample_map(query: query) -> JsonResponse:
        return JsonResponse(asdict(inspection.posteriors.map(query)))

    @router.post("/sample/{tested}/{item}")
    def note(tested: PartName, item: Item, given: NoteBody) -> JsonResponse:
        part = _known("part", tested, parts)
        inspection.posteriors.put_note(part, item, flag=given.flag, note=given.note.strip())
        return JsonResponse({"flag": given.flag, "note": given.note.strip()})

    @router.get("/samples.csv")
    def export(query: query) -> Response:
        text = inspection.posteriors.csv(query, inspection.classes)
        kept_as = {"Content-Disposition": 'attachment; filename="samples.csv"'}
        return Response(text.encode("utf-8"), media_type="text/csv; charset=utf-8", headers=kept_as)

    @router.get("/confusion")
    def confusion(method: str | None = None, part: str | None = None) -> JsonResponse:
        row = _known("method", method or next(iter(inspection.looks)), inspection.looks)
        own = None if part is None else _known("part", part, parts)
        return JsonResponse({"row": row, "counts": inspection.posteriors.confusion(row, own)})

    @router.get("/labels")
    def labels(label: Label, part: str | None = None) -> JsonResponse:
        _check_label(label, inspection)
        own = None if part is None else _known("part", part, parts)
        return JsonResponse(asdict(inspection.posteriors.label(label, own)))


def _add_images(router: APIRouter, inspection: Inspection) -> None:
    @router.get("/thumbnail/{tested}/{item}")
    def thumbnail(tested: PartName, item: Item) -> Response:
        where = inspection.posteriors.where(tested, item)
        return _image(None if where is None else inspection.posteriors.images.thumbnail(where), "image/jpeg")

    @router.get("/image/{tested}/{item}")
    def image(tested: PartName, item: Item) -> Response:
        where = inspection.posteriors.where(tested, item)
        return _image(None if where is None else inspection.posteriors.images.large(where), "image/png")


def _wanted(inspection: Inspection, parts: Mapping[str, str]) -> Callable[[Filter], Filter]:
    """Checks the filter of a request."""

    def wanted(query: Annotated[Filter, Depends(Filter)]) -> Filter:
        for name, value in (("method", query.method or None), ("other", query.other)):
            if value is not None:
                _known(name, value, inspection.looks)
        if query.part is not None:
            _known("part", query.part, parts)
        return query if query.method else replace(query, method=next(iter(inspection.looks)))

    return wanted


def _html(page: Any) -> HTMLResponse:
    return HTMLResponse(render(page))


def _image(content: bytes | None, kind: str) -> Response:
    if not content:
        raise RequestError(404, "There is no image for this sample.")
    return Response(content, media_type=kind, headers=A_WHILE)


def _found(content: Any, missing: str) -> JsonResponse:
    if content is None:
        raise RequestError(404, missing)
    return JsonResponse(content)


def _known(name: str, value: str, known: Mapping[str, object]) -> str:
    if value not in known:
        raise RequestError(404, f"`{name}` must be one of {', '.join(list(known)[:20])}, got {value[:100]!r}.")
    return value


def _check_label(label: int, inspection: Inspection) -> None:
    if label >= len(inspection.classes):
        raise RequestError(422, f"`label` must be below {len(inspection.classes)}, got {label}.")


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
        each.name: (each.read_bytes(), _TYPES[FilePath(each.name).suffix])
        for each in place.iterdir()
        if FilePath(each.name).suffix in _TYPES
    }


@cache
def plotly_file() -> FilePath:
    """Returns the path of plotly's script without importing plotly, which is slow."""
    package = importlib.util.find_spec("plotly")
    places = [] if package is None else list(package.submodule_search_locations or ())
    path = FilePath(places[0], "package_data", PLOTLY) if places else None
    if path is None or not path.is_file():
        raise MissingExtraError("The charts need plotly: pip install 'onepeak[serve]'")
    return path
