"""`config.toml` of an experiment as others read it: without torch, which the inspector's first page does not load."""

import tomllib
from pathlib import Path
from typing import Any

CONFIG = "config.toml"


def read_config(folder: Path) -> dict[str, Any] | None:
    """The settings of an experiment; None where there are none, or none that can be read."""
    try:
        return tomllib.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return None
