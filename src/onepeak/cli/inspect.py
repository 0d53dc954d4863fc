"""`onepeak inspect`: every posterior of a comparison, a run or a model, in the browser."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onepeak.cli import options
from onepeak.cli.output import spinner
from onepeak.errors import InputError
from onepeak.training.out_folder import DESCRIPTION

if TYPE_CHECKING:  # the packages behind it are loaded when the command runs, and torch only where a model is asked
    from fastapi import FastAPI

    from onepeak.serving.inspector import Inspection
    from onepeak.serving.model import Model


@options.with_flags(source=options.LABELLED)
def inspect(
    folder: Annotated[
        Path,
        typer.Argument(
            callback=options.at_home, help="Folder of onepeak compare or train; with --data, a model folder."
        ),
    ],
    source: dict[str, Any],
    data: Annotated[
        str | None, options.flag("Data", "--data", "Data to predict: a known data set, a folder or a CSV file.")
    ] = None,
    model: Annotated[
        Path | None,
        options.path_flag("Prediction", "--model", "Model for the page Try it (default: the model in the folder)."),
    ] = None,
    actions: options.Actions = None,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8000,
    token: options.Token = None,
    open_browser: options.Open = False,
    device: options.Device = "auto",
    quiet: options.Quiet = False,
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
        _refuse({name: value for name, value in source.items() if name != "root"}, "without --data")
        inspection = open_inspection(folder, root=source.get("root"), actions=actions)
        loaded = _model_to_try(inspection, model, device=device)
    else:
        _refuse({"model": model}, "with --data, which uses the model of the folder")
        from onepeak.data.source import DataSource
        from onepeak.serving import load
        from onepeak.serving.evaluation_data import open_for
        from onepeak.serving.inspector.model_inspection import inspect_model
        from onepeak.serving.model import model_folder

        place = model_folder(folder)
        loaded = load(place, device=device)
        manifest = open_for(loaded, DataSource(data, **source, skip_bad=True))
        with spinner(f"Predicting {len(manifest):,} samples", quiet=quiet):
            inspection = inspect_model(loaded, place, manifest, actions=actions)
    app = _app(inspection, loaded, place if data is not None else model or folder, token=token)

    def ready(address: str) -> None:
        if not quiet:
            typer.echo(f"Inspecting {folder}. Ctrl-C stops.")
        typer.echo(address)  # alone on its line, for who reads it with a program

    serve_app(app, host=host, port=port, token=token, open_browser=open_browser, on_ready=ready)


def _refuse(flags: Mapping[str, object], where: str) -> None:
    for name, value in flags.items():
        if value is not None:
            raise InputError(f"`--{name}` has no use {where}: leave it out.")


def _model_to_try(inspection: "Inspection", model: Path | None, *, device: str) -> "Model | None":
    """The model that is named, or that of the folder if it can be loaded here; without one, torch is not loaded."""
    place = inspection.folder if model is None else model
    if model is None and not (place / DESCRIPTION).is_file():
        return None
    from onepeak.networks.own_backbone import BackboneError
    from onepeak.serving import load
    from onepeak.training.model_files import UnknownMethodError

    try:
        return load(place, device=device)
    except (BackboneError, UnknownMethodError) as error:
        if model is not None:
            raise
        note = f"The page Try it and evidence maps are missing. {error}"
        inspection.notes += (note,)
        return None


def _app(inspection: "Inspection", model: "Model | None", folder: Path, *, token: str | None) -> "FastAPI":
    from onepeak.serving.http import create_app
    from onepeak.serving.inspector import inspector_router

    if model is None:
        return create_app(None, token=token, extra_routers=[inspector_router(inspection)])
    from onepeak.serving.inspector.try_page import model_card, model_columns

    actions = inspection.actions if model.classes == inspection.classes else ()
    pages = inspector_router(inspection, columns=model_columns(model), card=model_card(folder))
    return create_app(model, actions=actions, token=token, extra_routers=[pages])
