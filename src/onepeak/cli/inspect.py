"""`onepeak inspect`: every posterior of a comparison, a run or a model, in the browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from onepeak.cli import options
from onepeak.cli.options import flag, refuse
from onepeak.cli.output import spinner
from onepeak.training.out_folder import DESCRIPTION

if TYPE_CHECKING:  # the packages behind it are loaded when the command runs, and torch only where a model is asked
    from fastapi import FastAPI

    from onepeak.serving.inspector import Inspection
    from onepeak.serving.model import Model


@options.with_flags(source=options.LABELLED)
def inspect(
    folder: Annotated[Path, typer.Argument(help="Folder of onepeak compare or train; with --data, a model folder.")],
    source: dict[str, Any],
    data: Annotated[
        str | None, flag("Data", "--data", "Data to predict: a known data set, a folder or a CSV file.")
    ] = None,
    model: Annotated[
        Path | None,
        flag("Prediction", "--model", "Model for the page Try it (default: the model in the folder)."),
    ] = None,
    actions: Path | None = None,
    unsure: Literal["highest", "lowest", "ask"] = "highest",
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    open: bool = False,  # noqa: A002 - the name of the flag
    device: str = "auto",
    quiet: bool = False,
) -> None:
    """Shows methods, samples, posteriors and evidence maps in the browser until Ctrl-C.

    Shows a comparison or a run from its folder. With --data, predicts the data first: onepeak inspect model --data
    biopsies

    Example: onepeak inspect out/biopsies-demo --open
    """
    from onepeak._core.imports import require

    for module in ("fastapi", "uvicorn", "jinja2"):
        require(module, extra="serve", purpose="The inspector")
    from onepeak.serving.http import check_address, serve_app
    from onepeak.serving.inspector import open_inspection

    check_address(host, token=token)
    if data is None:
        refuse({name: value for name, value in source.items() if name != "root"}, "without --data")
        inspection = open_inspection(folder, root=source.get("root"), actions=actions, unsure=unsure)
        loaded = _model_to_try(inspection, model, device=device)
        described = model or folder
    else:
        refuse({"model": model}, "with --data, which uses the model of the folder")
        from onepeak.data.source import DataSource
        from onepeak.serving import load
        from onepeak.serving.evaluation_data import open_for
        from onepeak.serving.inspector.inspection import inspect_model
        from onepeak.serving.model import model_folder

        described = model_folder(folder)
        loaded = load(described, device=device)
        manifest = open_for(loaded, DataSource(data, **source, skip_bad=True))
        with spinner(f"Predicting {len(manifest):,} samples", quiet=quiet):
            inspection = inspect_model(loaded, described, manifest, actions=actions, unsure=unsure)
    app = _app(inspection, loaded, described, token=token)

    def ready(address: str) -> None:
        if not quiet:
            typer.echo(f"Inspecting {folder}. Ctrl-C stops.")
        typer.echo(address)  # alone on its line, for who reads it with a program

    serve_app(app, host=host, port=port, token=token, open_browser=open, on_ready=ready)


def _model_to_try(inspection: "Inspection", model: Path | None, *, device: str) -> "Model | None":
    """The model that is named, or that of the folder if it can be loaded here; without one, torch is not loaded."""
    if model is None and not (inspection.folder / DESCRIPTION).is_file():
        return None
    from onepeak.networks.own_backbone import BackboneError
    from onepeak.serving import load
    from onepeak.training.model_files import UnknownMethodError

    try:
        return load(model or inspection.folder, device=device)
    except (BackboneError, UnknownMethodError) as error:
        if model is not None:
            raise
        inspection.notes += (f"The page Try it and evidence maps are missing. {error}",)
        return None


def _app(inspection: "Inspection", model: "Model | None", folder: Path, *, token: str | None) -> "FastAPI":
    from onepeak.serving.http import create_app
    from onepeak.serving.inspector import inspector_router

    if model is None:
        return create_app(None, token=token, extra_routers=[inspector_router(inspection)])
    from onepeak.serving.inspector.pages import model_card, model_columns

    actions = inspection.actions if model.classes == inspection.classes else ()
    pages = inspector_router(inspection, columns=model_columns(model), card=model_card(folder))
    return create_app(model, actions=actions, unsure=inspection.unsure, token=token, extra_routers=[pages])
