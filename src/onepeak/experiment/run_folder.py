"""The folder of one run: open, claimed by a process, failed, or finished."""

import json
import socket
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onepeak._one_step import write_text_in_one_step
from onepeak.data.file_lock import locked
from onepeak.errors import InputError
from onepeak.experiment.grid import Run
from onepeak.experiment.records import ERROR
from onepeak.training.json_text import json_text
from onepeak.training.run import RESULT

CLAIM = ".claim"


@contextmanager
def claim(folder: Path) -> Iterator[bool]:
    """Takes a run for this process, if no other has it; the claim ends with the block, or with the process.

    Yields:
        Whether the run is ours.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / CLAIM, wait=False) as ours:
        yield ours


def read_result(folder: Path) -> dict[str, Any] | None:
    """What a finished run found; None of one that is not finished."""
    path = folder / RESULT
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is damaged ({error}): delete its folder to have the run done again.") from error
    return content


def read_failure(folder: Path, *, since: float = 0.0) -> str | None:
    """Why a run failed at its last try; None of one that did not fail.

    Args:
        folder: The run's folder.
        since: A moment (`time.time`); older failures do not count, for they are tried again.
    """
    path = folder / ERROR
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        message, moment = str(content["message"]), float(content["time"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):  # no text, no JSON, or not ours
        message, moment = f"the reason cannot be read, as {path} is damaged", path.stat().st_mtime
    return message if moment >= since else None


def write_failure(folder: Path, run: Run, message: str, *, error: BaseException | None = None) -> None:
    """Keeps why a run failed, with the traceback where there is one."""
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
    """A run that failed before has gone well."""
    (folder / ERROR).unlink(missing_ok=True)
