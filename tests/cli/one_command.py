"""One command without the others around it."""

import io
from unittest import mock

import typer
from rich.text import Text
from typer.testing import CliRunner


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def invoked(command, *arguments, **environment):
    """Runs a command as `onepeak` does; an error of onepeak comes out as it is."""
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=environment, catch_exceptions=False)


def seen_on_a_terminal(command, *arguments, columns=300):
    """What a command that succeeds prints where somebody looks at it, without colours."""
    app = typer.Typer()
    app.command()(command)
    terminal = _Terminal()
    with (
        mock.patch("sys.stdout", terminal),
        mock.patch.dict("os.environ", {"COLUMNS": str(columns), "TERM": "xterm"}),
    ):
        app([str(argument) for argument in arguments], standalone_mode=False)
    return Text.from_ansi(terminal.getvalue()).plain
