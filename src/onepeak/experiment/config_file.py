"""Reads `config.toml` of an experiment without torch, which the inspector's first page does not load."""

import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
    """Returns the class names in order, as the experiment recorded them; empty if it did not.

    Example:
        >>> recorded_classes({"record": {"classes": ["low", "high"]}}), recorded_classes(None)
        (('low', 'high'), ())
    """
    return tuple(map(str, (config or {}).get(RECORD, {}).get("classes", ())))


def none_done(folder: Path) -> str:
    """Says why an experiment without a finished run cannot be read, with the command that continues it if there is one.

    Example:
        >>> none_done(Path("nowhere"))
        'none is done.'
    """
    command = shlex.join(["onepeak", "compare", str(folder)])
    return f"none is done. Continue with: {command}" if (folder / CONFIG).is_file() else "none is done."
