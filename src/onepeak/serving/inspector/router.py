"""The addresses of the inspector. Samples are named by numbers and runs by names that are known: no path is taken."""

import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import HTMLResponse, Response

from onepeak.serving.http.failures import JsonResponse, RequestError
from onepeak.serving.inspector.filters import Filter, Sort
from onepeak.serving.inspector.inspection import Inspection
from onepeak.serving.inspector.pages import (
    About,
    LabelsPage,
    SamplePage,
    TryPage,
    overview_page,
    part_names,
    render,
    samples_page,
    shell,
)
from onepeak.serving.inspector.static_files import A_WHILE, static_router

DATA = "/v1/inspect"
"""Where the pages get their figures: below /v1, so that errors come as JSON too."""
_MOST_ITEM = 2**31

# Called `tested` in addresses: the filter of the same request may name a `part` too.
PartName = Annotated[str, Path(pattern=r"^\d{1,6}-\d{1,6}$")]
Item = Annotated[int, Path(ge=0, le=_MOST_ITEM)]


def inspector_router(inspection: Inspection, *, columns: Mapping[str, tuple[str, ...]] | None = None) -> APIRouter:
    """The pages of an inspection and what they ask for.

    Args:
        inspection: What is shown.
        columns: The columns that the model behind /v1/predict reads, none for pictures; left out where there is no
            model, and then there is no page to try it.
    """
    router = APIRouter(include_in_schema=False)
    around = shell(inspection, can_try=columns is not None)
    parts = part_names(inspection.parts)
    first_reader = threading.Lock()  # never given back

    def wanted(
        method: str | None = None,
        part: str | None = None,
        truth: int | None = None,
        predicted: int | None = None,
        error: Annotated[int, Query(ge=0)] = 0,
        soi: Annotated[float | None, Query(ge=0, le=1.01)] = None,
        paradoxical: bool = False,
        search: Annotated[str, Query(max_length=200)] = "",
        sort: Sort = "item",
    ) -> Filter:
        return Filter(
            method=_known("method", method or next(iter(inspection.looks)), inspection.looks),
            part=None if part is None else _known("part", part, parts),
            truth=truth,
            predicted=predicted,
            min_error=error,
            soi_below=soi,
            paradoxical=paradoxical,
            search=search,
            sort=sort,
        )

    asked = Annotated[Filter, Depends(wanted)]

    @router.get("/")
    def first() -> HTMLResponse:
        return _html(overview_page(inspection, around))

    @router.get("/samples")
    def samples() -> HTMLResponse:
        return _html(samples_page(inspection, around))

    @router.get("/sample/{tested}/{item}")
    def sample(tested: PartName, item: Item) -> HTMLResponse:
        page = SamplePage(
            shell=around, part=_known("part", tested, parts), item=item, has_actions=bool(inspection.actions)
        )
        return _html(page)

    @router.get("/labels")
    def labels() -> HTMLResponse:
        return _html(LabelsPage(shell=around, parts=parts, classes=inspection.classes))

    @router.get("/try")
    def try_it() -> HTMLResponse:
        if columns is None:
            raise RequestError(404, "There is no model to ask: give one with --model.")
        return _html(TryPage(shell=around, columns=columns))

    @router.get(f"{DATA}/about")
    def about() -> JsonResponse:
        return JsonResponse(
            asdict(About(classes=inspection.classes, looks=inspection.looks, parts=parts, actions=inspection.actions))
        )

    @router.get(f"{DATA}/overview")
    def overview() -> JsonResponse:
        return JsonResponse(asdict(inspection.overview))

    @router.get(f"{DATA}/curves")
    def curves() -> JsonResponse:
        rows = inspection.curves.items()
        return JsonResponse({name: {row: asdict(course) for row, course in found.items()} for name, found in rows})

    @router.get(f"{DATA}/findings")
    def findings() -> JsonResponse:
        found = inspection.findings
        # The first page is whole now, and its reader goes on to the samples; who stops the server does not wait for it.
        if first_reader.acquire(blocking=False):
            threading.Thread(target=inspection.prepare, daemon=True).start()
        return JsonResponse(found)

    @router.get(f"{DATA}/samples")
    def samples_data(asked: asked, page: Annotated[int, Query(ge=1)] = 1) -> JsonResponse:
        return JsonResponse(asdict(inspection.posteriors.page(asked, page)))

    @router.get(f"{DATA}/sample/{{tested}}/{{item}}")
    def sample_data(tested: PartName, item: Item, asked: asked) -> JsonResponse:
        return JsonResponse(asdict(inspection.posteriors.sample(_known("part", tested, parts), item, asked)))

    @router.get(f"{DATA}/labels")
    def labels_data(label: Annotated[int, Query(ge=0)], part: str | None = None) -> JsonResponse:
        if label >= len(inspection.classes):
            raise RequestError(422, f"`label` must be below {len(inspection.classes)}, got {label}.")
        return JsonResponse(
            asdict(inspection.posteriors.label(label, None if part is None else _known("part", part, parts)))
        )

    @router.get("/thumbnail/{tested}/{item}")
    def thumbnail(tested: PartName, item: Item) -> Response:
        where = inspection.posteriors.where(tested, item)
        return _picture(b"" if where is None else inspection.posteriors.pictures.thumbnail(where), "image/jpeg")

    @router.get("/picture/{tested}/{item}")
    def picture(tested: PartName, item: Item) -> Response:
        where = inspection.posteriors.where(tested, item)
        return _picture(None if where is None else inspection.posteriors.pictures.large(where), "image/png")

    @router.get("/evidence/{tested}/{item}")
    def evidence(tested: PartName, item: Item, method: str, label: Annotated[int, Query(ge=0)]) -> Response:
        if label >= len(inspection.classes):
            raise RequestError(422, f"`label` must be below {len(inspection.classes)}, got {label}.")
        row = _known("method", method, inspection.looks)
        return _picture(inspection.posteriors.evidence(row, tested, item, label), "image/png")

    router.include_router(static_router())
    return router


def _html(page: Any) -> HTMLResponse:
    return HTMLResponse(render(page))


def _picture(content: bytes | None, kind: str) -> Response:
    if not content:
        raise RequestError(404, "There is no picture of this sample.")
    return Response(content, media_type=kind, headers=A_WHILE)


def _known(name: str, value: str, known: Mapping[str, object]) -> str:
    if value not in known:
        raise RequestError(404, f"`{name}` must be one of {', '.join(list(known)[:20])}, got {value[:100]!r}.")
    return value
