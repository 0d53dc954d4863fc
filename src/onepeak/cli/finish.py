"""`onepeak finish`: the model that a comparison chose."""

from pathlib import Path
from typing import Annotated

import typer

from onepeak.cli import options
from onepeak.cli.options import path_flag


def finish(
    comparison: Annotated[Path, typer.Argument(callback=options.at_home, help="Folder of a comparison.")],
    out: Annotated[
        Path | None, path_flag("Output", "--out", "New folder for the model (default: COMPARISON/model).")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Makes one model of a comparison: the method that is best in validation, as the mean of its folds' networks.

    Example: onepeak finish comparison --out model
    """
    from onepeak._core.wording import counted
    from onepeak.cli.output import print_note
    from onepeak.experiment.finish import choice_of
    from onepeak.experiment.finish import finish as finish_comparison

    choice = choice_of(comparison)
    out = out or comparison / "model"
    finish_comparison(choice, out)
    if not quiet:
        print_note(
            f"{choice.label}: validation {choice.select} {choice.value:.3f}, {counted(len(choice.runs), 'network')}"
        )
    typer.echo(f"model: {out}")
