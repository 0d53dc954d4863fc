"""The page to try a model: part of an inspection, or alone when a model is served."""

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from onepeak._core.imports import require
from onepeak._version import __version__
from onepeak.serving.inspector.pages import Shell, TryPage, render
from onepeak.serving.inspector.router import static_router
from onepeak.serving.model import Model
from onepeak.serving.posterior_options import PosteriorOptions


def model_columns(model: Model) -> dict[str, tuple[str, ...]]:
    """Returns the columns of a table model, with the names of categories; empty for an image model."""
    table = model.description.table
    return {} if table is None else {name: table.categories.get(name, ()) for name in table.given_columns}


def model_card(folder: Path) -> str:
    """Returns the README.md of a model's folder as HTML, in which its own HTML is text; empty if there is none."""
    path = folder / "README.md"
    if not path.is_file():
        return ""
    markdown = require("markdown_it", extra="serve", purpose="A model's card")
    text = path.read_text(encoding="utf-8", errors="replace")
    if text.startswith("---\n"):  # a header for model hubs
        text = text.partition("\n---\n")[2]
    html: str = markdown.MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return html


def try_router(
    model: Model,
    *,
    folder: Path | None = None,
    posterior_options: PosteriorOptions = PosteriorOptions(),  # noqa: B008 - immutable
) -> APIRouter:
    """Returns the page alone, as the first page of a server; it calls /v1/predict.

    Args:
        model: The served model.
        folder: Its folder, whose card the page shows.
        posterior_options: How the server reads posteriors.
    """
    router = APIRouter(include_in_schema=False)
    card = "" if folder is None else model_card(folder)
    around = Shell(
        title=model.description.data or "A model",
        subtitle=", ".join((f"{len(model.classes)} classes", model.description.method, *posterior_options.choices)),
        version=__version__,
        places={"Try it": "/", "Interface": "/docs"},
    )

    @router.get("/")
    def try_it() -> HTMLResponse:
        return HTMLResponse(render(TryPage(shell=around, columns=model_columns(model), card=card)))

    router.include_router(static_router())
    return router
