"""`config.toml` of an experiment as others read it: without torch, which the inspector's first page does not load."""

import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CONFIG = "config.toml"
RECORD = "record"
"""The table in which it keeps what was found when the experiment began; no part of the experiment."""


def read_config(folder: Path) -> dict[str, Any] | None:
    """The settings of an experiment; None where there are none, or none that can be read."""
    try:
        return tomllib.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return None


def recorded_classes(config: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The names of the classes in their order, as the experiment recorded them; none where it did not.

    Example:
        >>> recorded_classes({"record": {"classes": ["low", "high"]}}), recorded_classes(None)
        (('low', 'high'), ())
    """
    return tuple(map(str, (config or {}).get(RECORD, {}).get("classes", ())))


def none_done(folder: Path) -> str:
    """Why an experiment without a finished run cannot be read, and the command that goes on with it if there is one.

    Example:
        >>> none_done(Path("nowhere"))
        'none is done.'
    """
    command = shlex.join(["onepeak", "compare", str(folder)])
    return f"none is done. Go on with: {command}" if (folder / CONFIG).is_file() else "none is done."
