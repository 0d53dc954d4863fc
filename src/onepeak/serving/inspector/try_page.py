"""The page to try a model: part of an inspection, or alone when a model is served."""

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from onepeak._version import __version__
from onepeak.serving.inspector.pages import Shell, TryPage, render
from onepeak.serving.inspector.router import static_router
from onepeak.serving.model import Model
from onepeak.serving.posterior_options import PosteriorOptions


def model_columns(model: Model) -> dict[str, tuple[str, ...]]:
    """Returns the columns of a table model, with the names of categories; empty for an image model."""
    table = model.description.table
    return {} if table is None else {name: table.categories.get(name, ()) for name in table.given_columns}


def try_router(model: Model, *, posterior_options: PosteriorOptions = PosteriorOptions()) -> APIRouter:  # noqa: B008 - immutable
    """Returns the page alone, as the first page of a server; it calls /v1/predict.

    Args:
        model: The served model.
        posterior_options: How the server reads posteriors.
    """
    router = APIRouter(include_in_schema=False)
    around = Shell(
        title=model.description.data or "A model",
        subtitle=", ".join((f"{len(model.classes)} classes", model.description.method, *posterior_options.choices)),
        version=__version__,
        places={"Try it": "/", "Interface": "/docs"},
    )

    @router.get("/")
    def try_it() -> HTMLResponse:
        return HTMLResponse(render(TryPage(shell=around, columns=model_columns(model))))

    router.include_router(static_router())
    return router
