"""Checks of the `--out` folder: one clear message if it cannot be created or written, or holds other files."""

import csv
import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from onepeak._core.files import read_text, write_in_one_step
from onepeak._core.imports import Frame, require
from onepeak._core.wording import listed
from onepeak.errors import InputError, first_line

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
_MOST_EPOCHS = 10_000_000


def write_history(history: list[dict[str, float]], folder: Path) -> None:
    """Writes `history.csv`. It is called with every checkpoint, so that a stopped run has its history too."""
    pandas = require("pandas", extra="data", purpose="The history")
    write_in_one_step(folder / HISTORY, lambda part: pandas.DataFrame(history).to_csv(part, index=False))


def history_columns(run: str | Path) -> dict[str, npt.NDArray[np.float64]]:
    """Reads the columns of a run's history: one number per epoch."""
    path = file_of_a_run(Path(run), HISTORY)
    try:
        header, *rows = csv.reader(io.StringIO(read_text(path)))
        values = np.array([[float(cell or "nan") for cell in row] for row in rows]).reshape(len(rows), len(header))
        columns = dict(zip(header, values.T, strict=True))
        steps = np.diff(columns["epoch"], prepend=-1, append=_MOST_EPOCHS)
    except (ValueError, KeyError, csv.Error) as error:
        raise InputError(
            f"{path} must be a history that onepeak wrote, got one that cannot be read: {first_line(error)}"
        ) from error
    if not ((steps > 0) & (steps == steps.round())).all():
        raise InputError(f"{path} must count epochs from 0 to less than {_MOST_EPOCHS:,}.")
    return columns


def read_history(run: str | Path) -> Frame:
    """Reads the history of one run: one row per epoch."""
    pandas = require("pandas", extra="data", purpose="Reading a history")
    history: Frame = pandas.DataFrame(history_columns(run))
    return history.astype({"epoch": int})


def file_of_a_run(run: Path, name: str) -> Path:
    """Returns the path of a file that a finished run has."""
    path = run / name
    if not path.is_file():
        raise InputError(f"`{run}` must be the folder of a finished run, got one without {name}.")
    return path
