"""Checks of the `--out` folder: one clear message if it cannot be created or written, or holds other files."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onepeak._core.files import write_in_one_step
from onepeak._core.imports import require
from onepeak._core.wording import listed
from onepeak.errors import InputError

_SHOWN = 3
"""Number of other files that a message names."""


def check_out(folder: Path) -> None:
    """Rejects a folder that cannot be written, as far as that can be seen without creating it."""
    with _refused(folder):
        nearest = next(place for place in (folder, *folder.parents) if place.exists())
        if not nearest.is_dir():
            raise InputError(f"`--out` must be a folder, got {folder}, where {nearest} is a file.")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def refuse_others(folder: Path) -> None:
    """Rejects a folder that holds anything but hidden files, such as our locks and unfinished files."""
    with _refused(folder):
        inside = folder.iterdir() if folder.is_dir() else ()
        others = sorted(each.name for each in inside if not each.name.startswith("."))
    if others:
        raise InputError(
            f"`--out` {folder} holds other files ({listed(others, limit=_SHOWN)}): give a new or an empty folder."
        )


def make_out(folder: Path) -> None:
    """Creates the folder if it does not exist."""
    with _refused(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def _refused(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"`--out` must be a folder that can be created and written to, got {folder}: {error.strerror}."
        ) from None


FORMAT = 1
"""The format of the files in model and run folders. Each names its own; those of runs by 0.1 name none and are of 1."""
RUNS = "runs"
"""The folder of all runs of a comparison."""
RESULT = "result.json"
"""The result of a run; exists once the run has finished."""
ERROR = "error.json"
"""Why a run failed."""
DESCRIPTION = "onepeak.json"
"""Everything about a model except its weights."""


HISTORY = "history.csv"


def write_history(history: list[dict[str, float]], folder: Path) -> None:
    """Writes `history.csv`. It is called with every checkpoint, so that a stopped run has its history too."""
    pandas = require("pandas", extra="data", purpose="The history")
    write_in_one_step(folder / HISTORY, lambda part: pandas.DataFrame(history).to_csv(part, index=False))


def file_of_a_run(run: Path, name: str) -> Path:
    """Returns the path of a file that a finished run has."""
    path = run / name
    if not path.is_file():
        raise InputError(f"`{run}` must be the folder of a finished run, got one without {name}.")
    return path
