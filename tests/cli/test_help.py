"""The wording of all commands' help is written down in `help.txt`, which changes with it.

To write it again: `PYTHONPATH=src python tests/cli/test_help.py`.
"""

from pathlib import Path

import typer
from typer.testing import CliRunner

from onepeak.cli.app import app

WORDING = Path(__file__).with_name("help.txt")


def all_help():
    """What every command says of itself, its arguments and its flags."""
    lines = []
    for name, command in typer.main.get_command(app).commands.items():
        lines += [f"onepeak {name}", "", command.help, ""]
        for parameter in command.params:
            names = ", ".join((*parameter.opts, *parameter.secondary_opts))
            lines.append(f"  {names}: {parameter.help}")
        lines.append("")
    return "\n".join(lines)


def test_the_help_of_all_commands_reads_as_it_is_written_down():
    assert all_help() == WORDING.read_text(encoding="utf-8")


def test_a_value_is_shown_by_its_type_and_its_bounds():
    shown = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "120", "TERM": "dumb"}).output
    (port,) = [line.split() for line in shown.splitlines() if "│ --port" in line]
    assert port[1:4] == ["--port", "<int>", "[0<=x<=65535]"]
    assert "range" not in shown


def test_everything_that_is_missing_is_named_at_once():
    result = CliRunner().invoke(app, ["evaluate"], env={"TERM": "dumb"})
    assert result.exit_code == 2
    assert "Missing: MODEL, DATA." in result.stderr


if __name__ == "__main__":
    WORDING.write_text(all_help(), encoding="utf-8")
