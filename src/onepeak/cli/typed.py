"""What the user typed, for records and for the command that goes on."""

import sys
from pathlib import Path


def typed() -> list[str]:
    """The command with its arguments: `onepeak`, or a program of the user's own that adds methods and calls `main`.

    Where it lies on this machine is left out, if it works without.

    Example:
        >>> typed()[0] in ("onepeak", "python")
        True
    """
    program = Path(sys.argv[0])
    if program.name == "__main__.py" and program.parent.name != "onepeak":
        command = ["python", "-m", program.parent.name]
    elif program.suffix == ".py" and program.name != "__main__.py":
        here = program.is_relative_to(Path.cwd())
        command = ["python", str(program.relative_to(Path.cwd()) if here else program)]
    else:
        command = ["onepeak"]
    return [*command, *sys.argv[1:]]
