"""Folders that exist while they are worked in, on machines whose processes may be killed at any moment."""

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
    """A new folder that is removed at the end of the block; what killed processes left behind goes before it.

    Args:
        parent: Where to make it; the system's folder for temporary files by default.
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    _remove_abandoned(parent)
    folder = parent / f"{_NAME}{uuid.uuid4().hex}"
    lock = folder.with_suffix(_LOCK)
    # Locked before it is there, so that whoever finds a folder without a lock knows that it is abandoned.
    with locked(lock):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # Windows keeps a file that is open; the next block removes it
                lock.unlink()


def _remove_abandoned(parent: Path) -> None:
    for lock in parent.glob(f"{_NAME}*{_LOCK}"):
        # It may be another user's, or be gone meanwhile.
        with contextlib.suppress(OSError), locked(lock, wait=False) as abandoned:
            if abandoned:
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink()
