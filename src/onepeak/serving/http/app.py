"""The server's app: the routes, behind the checks that every request passes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse

from onepeak._version import __version__
from onepeak.serving.http.access import Access
from onepeak.serving.http.docs import docs_router
from onepeak.serving.http.failures import answer_failures
from onepeak.serving.http.limits import Limits
from onepeak.serving.http.secure import SecureAnswers

if TYPE_CHECKING:  # imported only with a model: without one, pages open before torch is loaded
    from onepeak.serving.model import Model
    from onepeak.serving.reading import Reading


def create_app(
    model: "Model | None",
    *,
    reading: "Reading | None" = None,
    actions: Sequence[str] = (),
    limits: Limits = Limits(),  # noqa: B008 - immutable
    token: str | None = None,
    extra_routers: Sequence[APIRouter] = (),
) -> FastAPI:
    """Creates the app; `onepeak.serving.http.serve_app` runs it.

    Args:
        model: The model behind `/v1/predict`; without one there is no such address.
        reading: How it answers unless a request says otherwise; by default `Reading()`.
        actions: The action for each class, to include in answers; empty for none.
        limits: Limits on the size of requests and on how much may wait.
        token: The secret that every request must send; without one, only requests to localhost are answered.
        extra_routers: Routers with further pages.
    """
    predictor = None
    if model is not None:
        from onepeak.serving.http.predictor import Predictor
        from onepeak.serving.reading import Reading

        predictor = Predictor(model, limits, Reading() if reading is None else reading)

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
        middleware=[Middleware(SecureAnswers), Middleware(Access, token=token)],
    )
    answer_failures(app)
    app.include_router(docs_router(app))

    @app.head("/healthz", include_in_schema=False)
    @app.get(
        "/healthz",
        summary="Whether the server is alive",
        description="For supervisors and load balancers: does not run the model, costs nothing, and needs no token.",
        response_description="It does.",
        tags=["server"],
    )
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    for router in extra_routers:
        app.include_router(router)

    @app.get("/", include_in_schema=False)
    async def first_page() -> RedirectResponse:  # unless an earlier router has one
        return RedirectResponse("/docs")

    if predictor is not None:
        from onepeak.serving.http.predict import predict_router

        app.include_router(predict_router(predictor, limits, actions))
    return app
