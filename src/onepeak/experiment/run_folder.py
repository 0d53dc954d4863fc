"""The folder of one run: open, claimed by a process, failed, or finished."""

import socket
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onepeak._file_lock import locked
from onepeak._one_step import write_text_in_one_step
from onepeak.errors import InputError
from onepeak.experiment.grid import Run
from onepeak.experiment.run_json import read_json, read_message
from onepeak.training.file_names import ERROR, RESULT
from onepeak.training.json_text import json_text

CLAIM = ".claim"


@contextmanager
def claim(folder: Path) -> Iterator[bool]:
    """Claims a run for this process unless another holds it; the claim ends with the block, or with the process.

    Yields:
        Whether this process holds the run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / CLAIM, wait=False) as ours:
        yield ours


def read_result(folder: Path) -> dict[str, Any] | None:
    """Reads the result of a finished run; None if it is not finished."""
    try:
        return read_json(folder / RESULT)
    except FileNotFoundError:
        return None


def read_failure(folder: Path, *, since: float = 0.0) -> str | None:
    """Returns why a run failed at its last attempt; None if it did not fail.

    Args:
        folder: The run's folder.
        since: A time (`time.time`); older failures do not count, because they are tried again.
    """
    path = folder / ERROR
    try:
        content = read_json(path)
        message, moment = str(content["message"]), float(content["time"])
    except FileNotFoundError:
        return None
    except (InputError, ValueError, KeyError, TypeError):  # damaged, or not written by onepeak
        message, moment = read_message(path), path.stat().st_mtime
    return message if moment >= since else None


def write_failure(folder: Path, run: Run, message: str, *, error: BaseException | None = None) -> None:
    """Records why a run failed, with the traceback if there is one."""
    content = {
        "label": run.entry.label,
        "method": run.entry.name,
        "split": run.split,
        "fold": run.fold,
        "message": message,
        "kind": None if error is None else type(error).__name__,
        "traceback": None if error is None else "".join(traceback.format_exception(error)),
        "machine": socket.gethostname(),
        "time": time.time(),
    }
    write_text_in_one_step(folder / ERROR, json_text(content))


def forget_failure(folder: Path) -> None:
    """Removes the record of an earlier failure."""
    (folder / ERROR).unlink(missing_ok=True)
