"""Opens what a user names: the folder of a comparison or that of a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onepeak._home import expanded
from onepeak.errors import InputError
from onepeak.serving.actions import read_actions
from onepeak.serving.inspector.inspection import Inspection
from onepeak.serving.inspector.runs import Found, find_runs


def open_inspection(folder: Path, *, root: str | None = None, actions: Path | None = None) -> Inspection:
    """Opens the folder of a comparison or of one run.

    Args:
        folder: What `onepeak compare` or `onepeak train` wrote to.
        root: Where the data lie now, if they were moved.
        actions: A CSV with what to do for each class.
    """
    folder = expanded(folder)
    found = find_runs(folder)
    return Inspection(
        folder,
        found.runs,
        found.classes,
        failed=found.failed,
        config=_moved(found, root),
        actions=read_actions(actions, found.classes),
    )


def _moved(found: Found, root: str | None) -> Mapping[str, Any] | None:
    if root is None:
        return found.config
    if found.config is None:
        raise InputError("`root` (--root) has no use for a single run: give --data, and what lies there is asked anew.")
    return {**found.config, "root": root}
