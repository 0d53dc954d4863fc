"""All commands, in the order in which `onepeak --help` shows them."""

import typer

from onepeak.cli import datasets, evaluate, methods, predict, splits, train

app = typer.Typer(
    name="onepeak",
    help="Deep ordinal classification whose posteriors have one peak.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(train.train)
app.command()(evaluate.evaluate)
app.command()(predict.predict)
app.command()(methods.methods)
app.command()(datasets.datasets)
app.command()(splits.splits)


@app.callback()
def _root() -> None:
    """Deep ordinal classification whose posteriors have one peak."""
