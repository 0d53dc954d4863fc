"""All commands, in the order in which `onepeak --help` shows them."""

from collections.abc import Callable, Sequence
from inspect import getdoc
from typing import Annotated

import typer

from onepeak import __version__
from onepeak.cli import (
    catalogs,
    check,
    demo,
    doctor,
    evaluate,
    export,
    fit,
    inspect,
    options,
    predict,
    push,
    refer,
    report,
    serve,
    splits,
)
from onepeak.cli.compare.command import compare
from onepeak.cli.train.command import train


def _paragraphs(command: Callable[..., None]) -> str:
    """A command's docstring with one line per paragraph: the width of the terminal breaks the lines."""
    return "\n\n".join(" ".join(part.split()) for part in (getdoc(command) or "").split("\n\n"))


app = typer.Typer(
    name="onepeak",
    help="Deep ordinal classification whose posteriors have one peak.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for command in (
    demo.demo,
    compare,
    train,
    fit.fit,
    fit.finish,
    report.report,
    inspect.inspect,
    evaluate.evaluate,
    predict.predict,
    refer.refer,
    export.export,
    serve.serve,
    push.push,
    push.pull,
    catalogs.methods,
    catalogs.metrics,
    catalogs.datasets,
    splits.splits,
    check.check,
    doctor.doctor,
):
    app.command(help=_paragraphs(command), cls=options.Command)(command)


def flags_of(arguments: Sequence[str]) -> tuple[dict[str, str], set[str]]:
    """Returns the flags of the command that was called, by argument, and the arguments whose flags were used.

    Example:
        >>> flags, used = flags_of(["splits", "data.csv", "--skip-bad", "--seed=3"])
        >>> flags["skip_bad"], sorted(used)
        ('--skip-bad', ['seed', 'skip_bad'])
    """
    group = typer.main.get_group(app)
    command = next((group.commands[word] for word in arguments if word in group.commands), group)
    options = [name for parameter in command.params for name in parameter.opts[:1] if name.startswith("--")]
    flags = {name.removeprefix("--").replace("-", "_"): name for name in options}
    used = {word.partition("=")[0] for word in arguments}
    return flags, {argument for argument, flag in flags.items() if flag in used}


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
        bool, typer.Option("--debug", help="Show the traceback of an error (also works after a command).")
    ] = False,
) -> None:
    """Deep ordinal classification whose posteriors have one peak."""
