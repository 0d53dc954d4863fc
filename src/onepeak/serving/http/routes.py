"""`POST /v1/predict` and `GET /v1/model`."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from typing import Annotated, Any, Literal, final

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from onepeak._version import __version__
from onepeak.data.images.decode import known_formats
from onepeak.errors import InputError
from onepeak.posterior.predictions import Combine, Row
from onepeak.serving.actions import Unsure, action_of
from onepeak.serving.http.answers import (
    CalibrationCard,
    ColumnCard,
    Failure,
    ImageCard,
    ModelCard,
    PredictResponse,
    ReadingCard,
)
from onepeak.serving.http.failures import RequestError, json_bytes
from onepeak.serving.http.limits import Limits, Load, Share, while_wanted
from onepeak.serving.http.metrics import Metrics
from onepeak.serving.http.predictor import Predictor, RequestOutcome, code_of
from onepeak.serving.http.requests import FORM, Upload, read_body, request_body, rows_of_body, uploads_of
from onepeak.serving.model import Model
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.predict import group_notes

_RAW = "application/octet-stream"
_FAILURES: dict[int | str, dict[str, Any]] = {
    400: {"model": Failure, "description": "The body is empty, damaged or malformed."},
    401: {"model": Failure, "description": "The token is missing or wrong."},
    403: {"model": Failure, "description": "The request comes from a page of another site."},
    408: {"model": Failure, "description": "The body did not arrive in time."},
    413: {"model": Failure, "description": "Too many bytes, images, rows or pixels."},
    415: {"model": Failure, "description": "The content type is not one that the model reads."},
    421: {"model": Failure, "description": "The host is not localhost, and the server has no token."},
    422: {"model": Failure, "description": "An option is wrong, or there is no prediction for any sample."},
    503: {
        "model": Failure,
        "description": "The server is busy: retry after `Retry-After` seconds.",
        "headers": {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}},
    },
}


class Options(BaseModel):
    """How to read the posteriors, if not as the server does by default; an unknown option is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    alpha: Annotated[float, Field(ge=1e-6, lt=1)] | SkipJsonSchema[None] = Field(
        None,
        description="The share of samples whose interval may miss the true class; at least smallest_alpha of "
        "GET /v1/model.",
    )
    decide: Literal["mode", "median", "mean", "qwk"] | SkipJsonSchema[None] = Field(
        None,
        description="How the label follows from the posterior; qwk for the highest quadratic weighted kappa, cost only "
        "if the server uses it (--decide cost).",
    )
    project: bool | SkipJsonSchema[None] = Field(None, description="Return the nearest posterior with one peak.")
    raw: bool | SkipJsonSchema[None] = Field(None, description="Return posteriors from the network, not calibrated.")
    evidence: bool = Field(False, description="For images: add a map of the evidence for the predicted class.")
    combine: Combine | SkipJsonSchema[None] = Field(
        None,
        description="Add one prediction per group, such as a patient: the worst, mean or median of its samples. Images "
        "under one field name of the form are a group, or rows with one value of the key that `group` names.",
    )
    group: str | SkipJsonSchema[None] = Field(
        None, description="For rows, with combine: the key of the group in every row; without it they are one group."
    )

    def posterior_options(self, usual: PosteriorOptions) -> PosteriorOptions:
        """Combines the options with the server's defaults."""
        query = self.model_dump(exclude={"evidence", "combine", "group"}, exclude_none=True)
        return replace(usual, **query, cost=usual.cost if self.decide is None else None)


def predict_router(
    predictor: Predictor, load: Load, metrics: Metrics, actions: Sequence[str] = (), unsure: Unsure = "highest"
) -> APIRouter:
    """Returns a router with both addresses."""
    router = APIRouter(prefix="/v1", tags=["model"])
    model, limits = predictor.model, load.limits
    card = model_card(model, limits, predictor.usual)
    worded = partial(_worded, actions=actions, unsure=unsure)

    @router.get(
        "/model",
        operation_id="model",
        summary="Describes the model",
        description="Its classes in order, the inputs it takes, how it was trained, and how its posteriors are read.",
        response_description="The model.",
        responses=_some(401, 421),
    )
    async def show_model() -> ModelCard:
        return card

    @router.post(
        "/predict",
        operation_id="predict",
        summary="Labels, posteriors and intervals for images or rows",
        description=_DESCRIPTION["rows" if model.reads_tables else "pictures"],
        response_model=PredictResponse,
        response_description="One entry per image or row, in the order in which they were sent.",
        responses=_FAILURES,
        openapi_extra={"requestBody": request_body(model, limits)},
    )
    async def predict(request: Request, options: Annotated[Options, Query()]) -> Response:
        kind = request.headers.get("content-type", _RAW)
        posterior_options = options.posterior_options(predictor.usual)
        predictor.check(posterior_options, evidence=options.evidence)
        _check_groups(options, rows=model.reads_tables)
        _check_kind(kind.partition(";")[0].strip().lower(), rows=model.reads_tables)

        async def answer(body: bytes, share: Share) -> bytes:
            run = predictor.decoding.run
            if model.reads_tables:
                rows = await run(partial(_rows, body, model, limits, options.group))
                outcome = await predictor.rows(rows, posterior_options)
                names: list[str | None] = [None] * len(rows)
                of = ["" if options.group is None else str(row[options.group]).strip() for row in rows]
            else:
                uploads = await run(partial(uploads_of, body, kind, max_items=limits.max_items))
                share.take("pixels", _num_pixels(uploads, limits))
                outcome = await predictor.images(uploads, posterior_options, evidence=options.evidence)
                names, of = [upload.name for upload in uploads], [upload.group for upload in uploads]
            metrics.samples.update("unlike" if mark else "usual" for mark in outcome.raw.unlike)
            metrics.samples["failed"] += len(outcome.failed)

            # Of several samples in a thread, because thousands of rows make megabytes of text.
            def content() -> bytes:
                found = _content(model, outcome, names, posterior_options, worded)
                if options.combine is not None:
                    found |= _groups(model, outcome, of, options.combine, posterior_options, worded)
                return json_bytes(found)

            return content() if len(names) == 1 and options.combine is None else await run(content)

        with ExitStack() as held:
            share = held.enter_context(load.request())
            body = await read_body(request, limits, share, values=model.reads_tables)
            share.take("requests")
            content = await while_wanted(request, load, answer(body, share))
            share.take("bytes", len(content))
            return HeldAnswer(content, held.pop_all())

    return router


_USUAL = "Options that are not given are as GET /v1/model lists under reading."
_DESCRIPTION = {
    "pictures": "Send one image as the body, or one or more as files of a form: "
    "curl -F images=@a.png -F images=@b.jpg http://127.0.0.1:8000/v1/predict\n\n"
    "The format of a file is recognised by its bytes, not by its name or declared type. An image that cannot be read "
    "gets an entry with its error, and the others get theirs; if none can be, the status is 422, or 413 if all are "
    "too large. Requests that arrive together are computed together. " + _USUAL,
    "rows": 'Send {"rows": [{column: value, ...}, ...]}: '
    """curl --json '{"rows": [{"age": 41}]}' http://127.0.0.1:8000/v1/predict\n\n"""
    "Columns are named as in GET /v1/model; null is a missing value, and columns that the model does not know are "
    "ignored. One wrong row fails the whole request, and the message names it. Requests that arrive together are "
    "computed together. " + _USUAL,
}


def _some(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: _FAILURES[status] for status in statuses}


def _check_kind(kind: str, *, rows: bool) -> None:
    if rows and kind != "application/json":
        raise RequestError(415, f"This model reads rows of a table: send application/json, got {kind[:100]!r}.")
    if not rows and kind not in (FORM, _RAW) and not kind.startswith("image/"):
        raise RequestError(
            415, f"This model reads images: send {FORM} with files, or an image as {_RAW}, got {kind[:100]!r}."
        )


@final
class HeldAnswer(Response):
    """An answer whose request holds its share of the load until the client has read it."""

    media_type = "application/json"

    def __init__(self, content: bytes, held: ExitStack) -> None:
        super().__init__(content)
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Sends the answer."""
        with self._held:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": self.body, "more_body": True})
            await send({"type": "http.response.body", "body": b""})  # waits until nearly all is read


def _num_pixels(uploads: Sequence[Upload], limits: Limits) -> int:
    """The pixels of all images that will be decoded."""
    pixels = sum(upload.pixels for upload in uploads if upload.pixels <= limits.max_pixels)
    if len(uploads) > 1 and pixels > limits.max_request_pixels:
        raise RequestError(
            413,
            f"The images of a request must have at most {limits.max_request_pixels} pixels together, got {pixels}: "
            "send several.",
        )
    return pixels


def _rows(body: bytes, model: Model, limits: Limits, group: str | None) -> list[dict[str, Any]]:
    table = model.description.table
    assert table is not None
    also = () if group is None or group in table.given_columns else (group,)
    columns, names = (*table.given_columns, *also), (*table.named_columns, *also)
    rows = rows_of_body(body, columns=columns, categories=names, max_rows=limits.max_rows)
    for place, row in enumerate(rows):  # no name would make one patient of several
        if group is not None and (row[group] is None or not str(row[group]).strip()):
            raise RequestError(422, f"`rows[{place}]`: {group!r} must name a group, got none: give each row its own.")
    return rows


def _check_groups(options: Options, *, rows: bool) -> None:
    if options.group is not None and (options.combine is None or not rows):
        where = (
            "without `combine`" if options.combine is None else "for images: the name of a file's field is its group"
        )
        raise InputError(f"`group` has no effect {where}. Leave it out.")


def _content(
    model: Model,
    outcome: RequestOutcome,
    names: Sequence[str | None],
    options: PosteriorOptions,
    worded: Callable[[Row], dict[str, Any]],
) -> dict[str, Any]:
    """The answer to a request, as `PredictResponse` describes it."""
    entries = {
        item: {**worded(row), "evidence": outcome.evidence.get(item)}
        for item, row in zip(outcome.raw.items.tolist(), outcome.rows, strict=True)
    }
    for each in outcome.failed:
        entries[each.item] = {"error": {"code": code_of(each.error), "message": str(each.error)}}
    return {
        "model_id": model.model_id,
        "classes": model.classes,
        "alpha": options.used_alpha(model.description.calibration),
        "notes": outcome.notes,
        "predictions": [{"item": item, "file": name, **entries[item]} for item, name in enumerate(names)],
        "groups": None,
    }


def _groups(
    model: Model,
    outcome: RequestOutcome,
    of: Sequence[str],
    how: Combine,
    options: PosteriorOptions,
    worded: Callable[[Row], dict[str, Any]],
) -> dict[str, Any]:
    """The predictions for groups, and the notes with what is to be known of them."""
    items: dict[str, list[int]] = {}
    for item in outcome.raw.items.tolist():
        items.setdefault(of[item], []).append(item)
    rows = model.read_groups(outcome.raw, [of[item] for item in outcome.raw.items], how, options).rows()
    found = [{"group": name, "items": own, **worded(row)} for (name, own), row in zip(items.items(), rows, strict=True)]
    return {"groups": found, "notes": (*outcome.notes, *group_notes(model, how, options))}


_COPIED = ("headline", "predicted_class", "predicted_index", "probs", "soi", "unimodal", "paradoxical", "unlike")


def _worded(row: Row, *, actions: Sequence[str], unsure: Unsure) -> dict[str, Any]:
    """A row under the field names of `Reading`."""
    return {
        **{name: getattr(row, name) for name in (*_COPIED, "distance", "refer")},
        "name": row.predicted_class,
        "label": row.predicted_index,
        "action": action_of(row, actions, unsure=unsure) if actions else None,
        "log_probs": row.finite_log_probs,
        "interval": None if row.lower is None else (row.lower, row.upper),
        "interval_names": None if row.lower is None else (row.lower_name, row.upper_name),
    }


def model_card(model: Model, limits: Limits, usual: PosteriorOptions) -> ModelCard:
    """Describes a model."""
    about, images = model.description, None
    if about.resize is not None:
        images = ImageCard(
            formats=list(known_formats()),
            short_side=about.resize.short_side,
            only_enlarge=about.resize.only_enlarge,
            scale=about.resize.scale,
            bits=about.bits,
            max_pixels=limits.max_pixels,
            max_network_pixels=limits.max_network_pixels,
            max_items=limits.max_items,
        )
    columns = None
    if about.table is not None:
        codes = about.table.categories
        columns = [
            ColumnCard(name=name, kind="category", categories=list(codes[name]))
            if name in codes
            else ColumnCard(name=name, kind="text" if name in about.table.named_columns else "number", categories=None)
            for name in about.table.given_columns
        ]
    return ModelCard(
        model_id=model.model_id,
        classes=list(model.classes),
        method=about.method,
        variant=about.variant,
        backbone=about.network.backbone,
        input="rows" if model.reads_tables else "pictures",
        columns=columns,
        max_rows=limits.max_rows if model.reads_tables else None,
        pictures=images,
        calibration=None if about.calibration is None else CalibrationCard.model_validate(about.calibration),
        reading=ReadingCard.model_validate({**asdict(usual), "alpha": usual.used_alpha(about.calibration)}),
        evidence=model.network.has_maps,
        evidence_range=about.evidence_range,
        data=about.data,
        version=__version__,
    )
