"""The page on which a model is tried: beside the others of an inspection, or alone where a model is served."""

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from onepeak._version import __version__
from onepeak.serving.inspector.pages import Shell, TryPage, render
from onepeak.serving.inspector.static_files import static_router
from onepeak.serving.model import Model
from onepeak.serving.reading import Reading


def model_columns(model: Model) -> dict[str, tuple[str, ...]]:
    """The columns that a model of a table reads, with the names of categories; none for a model of images."""
    table = model.description.table
    return {} if table is None else {name: table.categories.get(name, ()) for name in table.columns}


def try_router(model: Model, *, reading: Reading = Reading()) -> APIRouter:  # noqa: B008 - it never changes
    """The page alone, as the first of a server; it asks /v1/predict.

    Args:
        model: What is served there.
        reading: How it answers there.
    """
    router = APIRouter(include_in_schema=False)
    around = Shell(
        title=model.description.data or "A model",
        subtitle=", ".join((f"{len(model.classes)} classes", model.description.method, *reading.choices)),
        version=__version__,
        places={"Try it": "/", "Interface": "/docs"},
    )

    @router.get("/")
    def try_it() -> HTMLResponse:
        return HTMLResponse(render(TryPage(shell=around, columns=model_columns(model))))

    router.include_router(static_router())
    return router
