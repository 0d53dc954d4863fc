"""All commands, in the order in which `onepeak --help` shows them."""

from typing import Annotated

import typer

from onepeak import __version__
from onepeak.cli import (
    compare,
    datasets,
    demo,
    evaluate,
    export,
    inspect,
    methods,
    metrics,
    predict,
    report,
    serve,
    splits,
    train,
)

app = typer.Typer(
    name="onepeak",
    help="Deep ordinal classification whose posteriors have one peak.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(demo.demo)
app.command()(compare.compare)
app.command()(train.train)
app.command()(report.report)
app.command()(inspect.inspect)
app.command()(evaluate.evaluate)
app.command()(predict.predict)
app.command()(export.export)
app.command()(serve.serve)
app.command()(methods.methods)
app.command()(metrics.metrics)
app.command()(datasets.datasets)
app.command()(splits.splits)


def _show_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"onepeak {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[  # here for the help: `onepeak.cli.main` takes it, wherever it stands
        bool, typer.Option("--debug", help="Show where an error comes from; also after a command.")
    ] = False,
) -> None:
    """Deep ordinal classification whose posteriors have one peak."""
