"""Finds and reads the JSON records of runs without torch, which the inspector's first page does not load."""

import json
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onepeak._core.wording import counted, did_you_mean_file
from onepeak.errors import InputError
from onepeak.training.out_folder import ERROR, FORMAT, RESULT, RUNS


@dataclass(frozen=True, kw_only=True)
class FailedRun:
    """A run that ended with an error."""

    label: str
    name: str
    """Its split and fold, as in the name of its folder."""
    message: str
    folder: Path


def read_json(path: Path) -> dict[str, Any]:
    """Reads the object in a run's file; raises an error that says what is wrong with it and how to fix it.

    Raises:
        FileNotFoundError: The file is missing, possibly because another process is retrying the run.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # not JSON, or not text
        content, reason = None, str(error)
    else:
        reason = f"it holds a {type(content).__name__}, not an object"
    if not isinstance(content, dict):
        raise InputError(f"{path} is damaged ({reason}): delete its folder to run it again.")
    if content.get("format", FORMAT) != FORMAT:
        raise InputError(f"{path} is of format {content['format']}: it needs another version of onepeak.")
    return content


def read_message(path: Path) -> str:
    """Returns why a run failed, from its `error.json`; a run with a damaged file has failed too."""
    try:
        return str(read_json(path)["message"])
    except (InputError, KeyError, FileNotFoundError):
        return f"the reason cannot be read, as {path} is damaged"


def failed_runs(*folders: str | Path) -> tuple[FailedRun, ...]:
    """Returns the runs that ended with an error and have no result, sorted by label, split and fold."""
    found = []
    for folder in folders:
        for path in sorted(_files(Path(folder), ERROR)):
            if (path.parent / RESULT).exists():
                continue  # it succeeded on another attempt
            message = read_message(path)
            run = path.parent
            found.append(FailedRun(label=run.parent.name, name=run.name, message=message, folder=run))
    return tuple(found)


def result_files(folder: Path) -> list[Path]:
    """Lists the results in a folder that `onepeak compare` or `onepeak train` wrote; raises if there are none."""
    results = sorted(_files(folder, RESULT))
    if results:
        return results
    failed = failed_runs(folder)
    reason = none_done(folder)
    if failed:
        reason = f"{counted(len(failed), 'run')} failed, the first with: {failed[0].message}"
    raise InputError(f"`{folder}` must hold at least one finished run, got none: {reason}")


def _files(folder: Path, name: str) -> list[Path]:
    """The files of that name: one per run of a comparison, or that of a single run."""
    if not folder.is_dir():
        raise InputError(
            f"`{folder}` must be a folder that onepeak compare or train wrote, got no folder."
            f"{did_you_mean_file(folder)}"
        )
    if (folder / RUNS).is_dir():
        return list((folder / RUNS).glob(f"*/*/{name}"))
    if (folder / RESULT).exists() or (folder / ERROR).exists():
        return [folder / name] if (folder / name).exists() else []
    raise InputError(
        f"`{folder}` must be a folder of runs, with {RUNS}/ or {RESULT} in it, got one without either: "
        "give the --out folder of onepeak compare or train."
    )


CONFIG = "config.toml"
RECORD = "record"
"""The table that `onepeak compare` adds to the settings of an experiment: what was found when it began."""


def read_config(folder: Path) -> dict[str, Any] | None:
    """Returns the settings of an experiment; None if there are none, or they cannot be read."""
    try:
        return tomllib.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return None


def recorded_classes(config: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Returns the class names in order, as the experiment recorded them; empty if it did not."""
    return tuple(map(str, (config or {}).get(RECORD, {}).get("classes", ())))


def none_done(folder: Path) -> str:
    """Says why an experiment without a finished run cannot be read, and how to continue it."""
    command = shlex.join(["onepeak", "compare", str(folder)])
    return f"none is done. Continue with: {command}" if (folder / CONFIG).is_file() else "none is done."
