"""`onepeak serve`: a trained model behind HTTP."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from onepeak.cli import options

if TYPE_CHECKING:  # the packages behind it are loaded when the command runs, so that --help is fast
    from onepeak.serving.http import Limits
    from onepeak.serving.model import Model
    from onepeak.serving.posterior_options import PosteriorOptions

LIMITS: options.Flags = options.flags(
    "Server",
    max_mb=(int, "Largest request, in megabytes (default: 32).", {"min": 1}),
    max_items=(int, "Most images per request (default: 256).", {"min": 1}),
    max_rows=(int, "Most table rows per request (default: 10,000).", {"min": 1}),
    max_megapixels=(int, "Largest image, in megapixels (default: 50).", {"min": 1}),
    max_network_megapixels=(int, "Largest image after resizing, in megapixels (default: 8).", {"min": 1}),
    max_request_megapixels=(int, "Most megapixels of all images per request (default: 400).", {"min": 1}),
    max_requests=(int, "Most waiting requests; others are refused with a time to retry (default: 512).", {"min": 1}),
    upload_seconds=(float, "Most seconds for a request to arrive (default: 30).", {"min": 0.1}),
    answer_seconds=(float, "Most seconds to answer a request that has arrived (default: 60).", {"min": 0.1}),
)
"""As in `Limits`, bytes and pixels in millions."""


@options.with_flags(posterior=options.POSTERIOR | options.RAW, limits=LIMITS)
def serve(
    model: Annotated[
        Path, typer.Argument(help="Model folder (the --out of onepeak train), or one run of a comparison.")
    ],
    posterior: dict[str, Any],
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    actions: Path | None = None,
    unsure: Literal["highest", "lowest", "ask"] = "highest",
    device: str = "auto",
    open: bool = False,  # noqa: A002 - the name of the flag
    access_log: Annotated[
        bool, options.flag("Server", "--access-log", "Write one line per request to stderr.")
    ] = False,
    *,
    limits: dict[str, Any],
    quiet: bool = False,
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
    from onepeak.serving.http import check_address, create_app, serve_app
    from onepeak.serving.inspector.router import try_router
    from onepeak.serving.model import model_folder

    check_address(host, token=token)  # before the time it takes to load a model

    loaded = load(model, device=device)
    posterior_options = loaded.posterior_options(**posterior)

    def ready(address: str) -> None:
        if not quiet:
            typer.echo(_summary(loaded, posterior_options, with_token=token is not None))
        typer.echo(address)  # alone on its line, for who reads it with a program

    app = create_app(
        loaded,
        posterior_options=posterior_options,
        actions=read_actions(actions, loaded.classes),
        unsure=unsure,
        limits=_limits(**limits),
        token=token,
        extra_routers=[try_router(loaded, folder=model_folder(model), posterior_options=posterior_options)],
    )
    serve_app(app, host=host, port=port, token=token, access_log=access_log, open_browser=open, on_ready=ready)


def _limits(
    *,
    max_mb: int = 32,
    max_megapixels: int = 50,
    max_network_megapixels: int = 8,
    max_request_megapixels: int = 400,
    **more: Any,
) -> "Limits":
    from onepeak.serving.http import Limits

    return Limits(
        max_bytes=max_mb * 10**6,
        max_pixels=max_megapixels * 10**6,
        max_network_pixels=max_network_megapixels * 10**6,
        max_request_pixels=max_request_megapixels * 10**6,
        max_waiting_pixels=max(1000, 2 * max_request_megapixels) * 10**6,
        max_buffered_bytes=max(512, 2 * max_mb) * 10**6,
        **more,
    )


def _summary(model: "Model", posterior_options: "PosteriorOptions", *, with_token: bool) -> str:
    kind = "rows of a table" if model.reads_tables else "images"
    key = "; requests need the token" if with_token else ""
    called = (repr(model.description.method), f"model {model.model_id}", f"{len(model.classes)} classes")
    description = ", ".join((*called, *posterior_options.choices))
    return f"Serving {description}, for {kind}{key}. Ctrl-C stops."
