"""`onepeak serve`: a trained model behind HTTP."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onepeak.cli import options
from onepeak.cli.options import flag, switch

if TYPE_CHECKING:  # the packages behind it are loaded when the command runs, so that --help is fast
    from onepeak.serving.model import Model
    from onepeak.serving.posterior_options import PosteriorOptions


def serve(
    model: Annotated[
        Path,
        typer.Argument(
            callback=options.at_home,
            help="Model folder (the --out of onepeak train), or one run of a comparison.",
        ),
    ],
    host: options.Host = "127.0.0.1",
    port: options.Port = 8000,
    token: options.Token = None,
    alpha: options.Alpha = None,
    decide: options.Decide = None,
    cost: options.Cost = None,
    project: options.Project = False,
    raw: options.Raw = False,
    actions: options.Actions = None,
    unsure: options.Unsure = "highest",
    device: options.Device = "auto",
    open_browser: options.Open = False,
    max_mb: Annotated[int, flag("Server", "--max-mb", "Largest request, in megabytes.", min=1)] = 32,
    max_items: Annotated[int, flag("Server", "--max-items", "Most images per request.", min=1)] = 256,
    max_rows: Annotated[int, flag("Server", "--max-rows", "Most table rows per request.", min=1)] = 10_000,
    max_megapixels: Annotated[int, flag("Server", "--max-megapixels", "Largest image, in megapixels.", min=1)] = 50,
    max_network_megapixels: Annotated[
        int, flag("Server", "--max-network-megapixels", "Largest image after resizing, in megapixels.", min=1)
    ] = 8,
    max_request_megapixels: Annotated[
        int, flag("Server", "--max-request-megapixels", "Most megapixels of all images per request.", min=1)
    ] = 400,
    max_requests: Annotated[
        int, flag("Server", "--max-requests", "Most waiting requests; others are refused with a time to retry.", min=1)
    ] = 512,
    upload_seconds: Annotated[
        float, flag("Server", "--upload-seconds", "Most seconds for a request to arrive.", min=0.1)
    ] = 30.0,
    answer_seconds: Annotated[
        float, flag("Server", "--answer-seconds", "Most seconds to answer a request that has arrived.", min=0.1)
    ] = 60.0,
    access_log: Annotated[bool, switch("Server", "--access-log", "Write one line per request to stderr.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Serves a model's predictions over HTTP at POST /v1/predict; /docs lists all addresses.

    Serves only this machine, unless --host is given with a token. Ctrl-C or SIGTERM stops the server after the requests
    in progress.

    To try it: curl -F images=@scan.png http://127.0.0.1:8000/v1/predict

    --alpha, --decide, --cost, --project, --raw, --actions and --unsure work as in predict and apply to every request. A
    request can override all but costs and actions: /v1/predict?alpha=0.05

    Example: onepeak serve model --port 8000
    """
    from onepeak._core.imports import require

    for module in ("fastapi", "uvicorn", "python_multipart"):
        require(module, extra="serve", purpose="Serving a model")
    from onepeak.serving import load
    from onepeak.serving.actions import read_actions
    from onepeak.serving.http import Limits, check_address, create_app, serve_app
    from onepeak.serving.inspector.try_page import try_router
    from onepeak.serving.model import model_folder

    check_address(host, token=token)  # before the time it takes to load a model
    limits = Limits(
        max_bytes=max_mb * 10**6,
        max_items=max_items,
        max_rows=max_rows,
        max_pixels=max_megapixels * 10**6,
        max_network_pixels=max_network_megapixels * 10**6,
        max_request_pixels=max_request_megapixels * 10**6,
        max_waiting_pixels=max(1000, 2 * max_request_megapixels) * 10**6,
        max_requests=max_requests,
        upload_seconds=upload_seconds,
        answer_seconds=answer_seconds,
        max_buffered_bytes=max(512, 2 * max_mb) * 10**6,
    )
    loaded = load(model, device=device)
    posterior_options = loaded.posterior_options(alpha=alpha, decide=decide, cost=cost, project=project, raw=raw)
    to_do = read_actions(actions, loaded.classes)

    def ready(address: str) -> None:
        if not quiet:
            typer.echo(_summary(loaded, posterior_options, with_token=token is not None))
        typer.echo(address)  # alone on its line, for who reads it with a program

    pages = [try_router(loaded, folder=model_folder(model), posterior_options=posterior_options)]
    app = create_app(
        loaded,
        posterior_options=posterior_options,
        actions=to_do,
        unsure=unsure,
        limits=limits,
        token=token,
        extra_routers=pages,
    )
    serve_app(app, host=host, port=port, token=token, access_log=access_log, open_browser=open_browser, on_ready=ready)


def _summary(model: "Model", posterior_options: "PosteriorOptions", *, with_token: bool) -> str:
    kind = "rows of a table" if model.reads_tables else "images"
    key = "; requests need the token" if with_token else ""
    called = (repr(model.description.method), f"model {model.model_id}", f"{len(model.classes)} classes")
    description = ", ".join((*called, *posterior_options.choices))
    return f"Serving {description}, for {kind}{key}. Ctrl-C stops."
