"""The JSON that runs leave behind, as all read it: without torch, which the inspector's first page does not load."""

import json
from pathlib import Path
from typing import Any

from onepeak.errors import InputError


def read_json(path: Path) -> dict[str, Any]:
    """The object that a run's file holds, or a sentence on what is wrong with it and what to do.

    Raises:
        FileNotFoundError: It is not there, or no longer: another process may have tried the run again.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # no JSON, or no text
        content, reason = None, str(error)
    else:
        reason = f"it holds a {type(content).__name__}, not an object"
    if not isinstance(content, dict):
        raise InputError(f"{path} is damaged ({reason}): delete its folder to have the run done again.")
    return content


def read_message(path: Path) -> str:
    """Why a run failed, of its `error.json`; a run whose file is damaged has failed too."""
    try:
        return str(read_json(path)["message"])
    except (InputError, KeyError, FileNotFoundError):
        return f"the reason cannot be read, as {path} is damaged"
