"""`onepeak inspect`: every posterior of a comparison, a run or a model, in the browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onepeak.cli import options
from onepeak.cli.busy import busy

if TYPE_CHECKING:  # the packages behind it are loaded when the command runs, and torch only where a model is asked
    from fastapi import FastAPI


def inspect(
    folder: Annotated[
        Path,
        typer.Argument(
            callback=options.at_home, help="What onepeak compare or train wrote to; with --data, a model's folder."
        ),
    ],
    data: Annotated[
        str | None, typer.Option("--data", help="Data to ask the model about: a known set, a folder or a CSV.")
    ] = None,
    root: options.Root = None,
    order: options.Order = None,
    label: options.Label = None,
    group: options.Group = None,
    path: options.Pictures = None,
    decimal: options.Decimal = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            callback=options.at_home,
            help="The model of the page Try it; that of the folder if it holds one.",
        ),
    ] = None,
    actions: options.Actions = None,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8000,
    token: options.Token = None,
    device: options.Device = "auto",
    open_browser: Annotated[bool, typer.Option("--open", help="Show the first page in a browser.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Shows methods, samples, posteriors and evidence maps as pages in the browser, until Ctrl-C.

    A comparison or a run is shown as it lies on disk. A model is asked about the data first: onepeak inspect model
    --data biopsies

    Example: onepeak inspect out/biopsies-demo --open
    """
    from onepeak._extras import require

    for module in ("fastapi", "uvicorn", "jinja2"):
        require(module, extra="serve", purpose="The inspector")
    from onepeak.serving.http import check_address, serve_app

    check_address(host, token=token)
    if data is None:
        app = _inspect_runs(
            folder, root=root, actions=actions, model=model, token=token, device=device,
            unused={"--order": order, "--label": label, "--group": group, "--path": path, "--decimal": decimal},
        )  # fmt: skip
    else:
        given = {"root": root, "order": order, "label": label, "group": group, "path": path, "decimal": decimal}
        app = _inspect_model(folder, data, given, model=model, actions=actions, token=token, device=device, quiet=quiet)

    def ready(address: str) -> None:
        if not quiet:
            typer.echo(f"Inspecting {folder}. Ctrl-C stops.")
        typer.echo(address)  # alone on its line, for who reads it with a program

    serve_app(app, host=host, port=port, token=token, open_browser=open_browser, on_ready=ready)


def _inspect_runs(
    folder: Path,
    *,
    root: str | None,
    actions: Path | None,
    model: Path | None,
    token: str | None,
    device: str,
    unused: dict[str, str | None],
) -> "FastAPI":
    from onepeak.errors import InputError
    from onepeak.serving.http import create_app
    from onepeak.serving.inspector import inspector_router, open_inspection
    from onepeak.training.file_names import DESCRIPTION

    for flag, value in unused.items():
        if value is not None:
            raise InputError(f"`{flag}` has no use without --data: leave it out.")
    inspection = open_inspection(folder, root=root, actions=actions)
    place = folder if model is None and (folder / DESCRIPTION).is_file() else model
    if place is None:
        return create_app(None, token=token, extra_routers=[inspector_router(inspection)])
    from onepeak.networks.own_backbone import BackboneError
    from onepeak.serving import load
    from onepeak.serving.inspector.try_page import model_columns
    from onepeak.training.model_files import UnknownMethodError

    try:
        loaded = load(place, device=device)
    except (BackboneError, UnknownMethodError) as error:
        if model is not None:
            raise
        inspection.notes += (
            f"Shown is what lies on disk, without a page to try the model and without evidence maps. {error}",
        )
        return create_app(None, token=token, extra_routers=[inspector_router(inspection)])
    return create_app(
        loaded,
        actions=inspection.actions if loaded.classes == inspection.classes else (),
        token=token,
        extra_routers=[inspector_router(inspection, columns=model_columns(loaded))],
    )


def _inspect_model(
    folder: Path,
    data: str,
    given: dict[str, str | None],
    *,
    model: Path | None,
    actions: Path | None,
    token: str | None,
    device: str,
    quiet: bool,
) -> "FastAPI":
    from onepeak.errors import InputError
    from onepeak.serving import load
    from onepeak.serving.choosing import model_folder
    from onepeak.serving.http import create_app
    from onepeak.serving.inspector import inspector_router
    from onepeak.serving.inspector.asked_model import inspect_model
    from onepeak.serving.inspector.try_page import model_columns
    from onepeak.serving.opening import open_for

    if model is not None:
        raise InputError("`--model` has no use beside --data, which asks the model of the folder: leave it out.")
    place = model_folder(folder)
    loaded = load(place, device=device)
    manifest = open_for(loaded, data, **given, skip_bad=True)
    with busy(f"Predicting {len(manifest):,} items", quiet=quiet):
        inspection = inspect_model(loaded, place, manifest, actions=actions)
    pages = [inspector_router(inspection, columns=model_columns(loaded))]
    return create_app(loaded, actions=inspection.actions, token=token, extra_routers=pages)
