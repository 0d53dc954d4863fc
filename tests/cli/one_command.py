"""One command without the others around it."""

import typer
from typer.testing import CliRunner


def invoked(command, *arguments, **environment):
    """Runs a command as `onepeak` does; an error of onepeak comes out as it is."""
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=environment, catch_exceptions=False)
