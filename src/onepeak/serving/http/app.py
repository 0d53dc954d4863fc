"""The server's app: the routes, behind the checks that every request passes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, final

from fastapi import APIRouter, FastAPI
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onepeak._version import __version__
from onepeak.serving.actions import Unsure
from onepeak.serving.http.access import Access
from onepeak.serving.http.answers import Failure
from onepeak.serving.http.failures import PAGES, answer_failures, failure
from onepeak.serving.http.limits import Limits, Load
from onepeak.serving.http.metrics import Metrics, Observed

if TYPE_CHECKING:
    from onepeak.serving.model import Model
    from onepeak.serving.posterior_options import PosteriorOptions


def create_app(
    model: "Model | None",
    *,
    posterior_options: "PosteriorOptions | None" = None,
    actions: Sequence[str] = (),
    unsure: Unsure = "highest",
    limits: Limits = Limits(),  # noqa: B008 - immutable
    token: str | None = None,
    extra_routers: Sequence[APIRouter] = (),
) -> FastAPI:
    """Creates the app; `onepeak.serving.http.serve_app` runs it.

    Args:
        model: The model behind `/v1/predict`; without one there is no such address.
        posterior_options: How it answers unless a request says otherwise.
        actions: The action for each class, to include in answers; empty for none.
        unsure: What is done where the interval holds several classes; see `onepeak.serving.actions.action_of`.
        limits: Limits on the size of requests and on how much may wait.
        token: The secret that every request must send; without one, only requests to localhost are answered.
        extra_routers: Routers with further pages.
    """
    predictor, load = None, Load(limits)
    metrics = Metrics(load)
    if model is not None:
        from onepeak.serving.http.predictor import Predictor
        from onepeak.serving.posterior_options import PosteriorOptions

        predictor = Predictor(model, limits, posterior_options or PosteriorOptions())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        warming = None if predictor is None else asyncio.create_task(predictor.warm())
        yield
        if predictor is not None and warming is not None:
            await warming
            predictor.close()

    app = FastAPI(
        title="onepeak",
        version=__version__,
        summary="Ordinal predictions whose posteriors have one peak",
        docs_url=None,  # FastAPI's own pages load scripts from other sites
        redoc_url=None,
        lifespan=lifespan,
        middleware=[
            Middleware(Observed, metrics=metrics),
            Middleware(SecureAnswers),
            Middleware(Access, token=token),
        ],
    )
    answer_failures(app)
    app.include_router(docs_router(app))

    @app.head("/healthz", include_in_schema=False)
    @app.get(
        "/healthz",
        operation_id="healthz",
        summary="Whether the server is alive",
        description="For supervisors and load balancers: does not run the model, costs nothing, and needs no token.",
        response_description="The server is running.",
        tags=["server"],
    )
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get(
        "/readyz",
        operation_id="readyz",
        summary="Whether the server takes more requests",
        description="For load balancers: 503 while the model is loading, or while the requests in progress hold more "
        "than four fifths of what they may. Needs no token.",
        response_description="The server is ready.",
        responses={503: {"model": Failure, "description": "It is not: send requests to another server."}},
        tags=["server"],
    )
    async def readyz() -> dict[str, str]:
        if load.overloaded or not (predictor is None or predictor.is_warm):
            raise load.busy("it is starting, or overloaded")
        return {"status": "ready"}

    @app.get(
        "/metrics",
        operation_id="metrics",
        summary="What the server did, for Prometheus",
        description="Requests, latencies, refusals, what the requests in progress hold, and samples unlike the "
        "training, in Prometheus' text form.",
        response_class=PlainTextResponse,
        response_description="The counts.",
        tags=["server"],
    )
    async def show_metrics() -> PlainTextResponse:
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")

    for router in extra_routers:
        app.include_router(router)

    @app.get("/", include_in_schema=False)
    async def first_page() -> RedirectResponse:  # unless an earlier router has one
        return RedirectResponse("/docs")

    if predictor is not None:
        from onepeak.serving.http.routes import predict_router

        app.include_router(predict_router(predictor, load, metrics, actions, unsure))
    return app


HEADERS = {
    # What a page may load: its own files, and images that it created itself. Nothing from other sites.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; object-src 'none'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Set unless the response sets them itself."""


@final
class SecureAnswers:
    """Adds `HEADERS` to every response, and answers if the app fails: the reason goes to the log, not to the client."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_secured(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, receive, send_secured)
        except ClientDisconnect:
            return  # the client has disconnected
        except Exception:
            logging.getLogger(__name__).exception("%s %r failed", scope["method"], scope["path"])
            if not started:
                answer = failure(scope["path"], 500, "The server failed on this request; see its log.")
                await answer(scope, receive, send_secured)


def docs_router(app: FastAPI) -> APIRouter:
    """The page and its stylesheet."""
    router = APIRouter(include_in_schema=False)

    @router.get("/docs")
    def docs() -> HTMLResponse:
        description = app.openapi()
        page = PAGES.get_template("docs.html").render(
            info=description["info"],
            paths=description["paths"],
            records=description.get("components", {}).get("schemas", {}),
        )
        return HTMLResponse(page)

    @router.get("/docs.css")
    def style() -> FileResponse:
        return FileResponse(Path(__file__).parent / "pages" / "docs.css", media_type="text/css")

    return router
