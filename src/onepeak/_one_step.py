"""Atomic file writes: a file is complete or absent, even if the writer is killed."""

import os
from collections.abc import Callable
from pathlib import Path

from onepeak.errors import OnepeakError


class NotWrittenError(OnepeakError):
    """A file could not be written; its previous content is kept."""


def write_in_one_step(path: Path, write: Callable[[Path], object]) -> None:
    """Writes to a temporary file beside the target, flushes it to disk and renames it.

    Args:
        path: The target file.
        write: Called with the temporary path to write to.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.touch()
        rights = part.stat().st_mode
        write(part)
        part.chmod(rights)  # safetensors makes the file readable by its owner only
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        part.replace(path)
    except Exception as error:  # an OSError, or the type torch and safetensors wrap it in
        raise NotWrittenError(f"{path} could not be written ({error}); its previous content is kept.") from error
    finally:
        part.unlink(missing_ok=True)  # exists only if writing failed or was interrupted


def write_text_in_one_step(path: Path, text: str) -> None:
    """Writes text with the same bytes on every system; see `write_in_one_step`."""
    write_in_one_step(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def clear_unfinished(folder: Path) -> None:
    """Removes the temporary files that killed writers left in a folder. No writer may be active there."""
    for part in folder.glob(".*.part"):
        part.unlink(missing_ok=True)
