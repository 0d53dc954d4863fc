"""The wording of all commands' help is written down in `help.txt`, which changes with it.

To write it again: `PYTHONPATH=src python tests/cli/test_help.py`.
"""

from pathlib import Path

import typer

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


if __name__ == "__main__":
    WORDING.write_text(all_help(), encoding="utf-8")
