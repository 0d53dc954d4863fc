"""Temporary folders that are cleaned up even after processes were killed."""

import contextlib
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

from onepeak._file_lock import locked

_NAME = "onepeak-run-"
_LOCK = ".lock"


@contextlib.contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """Creates a folder that is removed at the end of the block; first removes those left by killed processes.

    Args:
        parent: Where to create it; by default the system's temporary folder.
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    _remove_abandoned(parent)
    folder = parent / f"{_NAME}{uuid.uuid4().hex}"
    lock = folder.with_suffix(_LOCK)
    # Locked before it exists: a folder whose lock is free is then known to be abandoned.
    with locked(lock):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # Windows cannot remove an open file; the next call does
                lock.unlink()


def _remove_abandoned(parent: Path) -> None:
    for lock in parent.glob(f"{_NAME}*{_LOCK}"):
        # The folder may belong to another user, or be gone meanwhile.
        with contextlib.suppress(OSError), locked(lock, wait=False) as abandoned:
            if abandoned:
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink()
