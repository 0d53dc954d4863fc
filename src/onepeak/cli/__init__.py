"""The command line: `onepeak COMMAND`. One short file a command; heavy imports happen inside the commands."""

import gc
import os
import sys
import traceback

from onepeak._core.wording import visible
from onepeak.errors import InputError, OnepeakError

COLLECT_AFTER = 50_000
"""New objects between two searches for garbage in cycles. With Python's own few hundred, all that torch and Lightning
make when they are imported, and which stays, is searched dozens of times: a tenth of the time until `train` begins."""


def main() -> None:
    """Runs the command line: one line on stderr for an error, exit 2 for usage and 1 for failure."""
    # Must be set before torch loads OpenMP. By default its threads spin for milliseconds while they wait for each
    # other, which slows down small networks where other programs keep the cores busy. A short spin costs nothing.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    try:
        from onepeak._core.imports import require

        require("typer", extra="cli", purpose="The command line")
        from onepeak.cli.app import app

        app()
    except (OnepeakError, OSError) as error:  # of the system: a disk that is full, a folder without rights
        if debug:
            traceback.print_exc()
        elif isinstance(error, InputError):
            from onepeak.cli.app import flags_of

            flags, used = flags_of(sys.argv[1:])
            print(f"onepeak: {visible(error.worded(flags, used=used))}", file=sys.stderr)  # noqa: T201
        elif isinstance(error, OnepeakError):
            print(f"onepeak: {visible(str(error))}", file=sys.stderr)  # noqa: T201
        else:
            print(f"onepeak: {visible(str(error))} (--debug shows the traceback).", file=sys.stderr)  # noqa: T201
        sys.exit(2 if isinstance(error, InputError) else 1)
    except KeyboardInterrupt:
        print("onepeak: stopped; finished work is kept.", file=sys.stderr)  # noqa: T201
        sys.exit(1)
