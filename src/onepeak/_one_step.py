"""Files that are there whole or not at all, whatever happens to who writes them."""

import os
from collections.abc import Callable
from pathlib import Path

from onepeak.errors import OnepeakError


class NotWrittenError(OnepeakError):
    """A file could not be written; what was there before is."""


def write_in_one_step(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file beside its place, makes sure it is on the disk, and moves it there.

    Args:
        path: Where the file shall be.
        write: Called with the path to write to.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.touch()
        rights = part.stat().st_mode
        write(part)
        part.chmod(rights)  # safetensors would keep the file to its owner
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        part.replace(path)
    except Exception as error:  # an OSError, or what torch and safetensors make of one
        raise NotWrittenError(f"{path} could not be written ({error}); what was there before is kept.") from error
    finally:
        part.unlink(missing_ok=True)  # moved already, unless writing failed or was interrupted


def write_text_in_one_step(path: Path, text: str) -> None:
    """Writes a text, with the same bytes on every system; see `write_in_one_step`."""
    write_in_one_step(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def clear_unfinished(folder: Path) -> None:
    """Removes what killed writers left beside the files of a folder; nobody may be writing there."""
    for part in folder.glob(".*.part"):
        part.unlink(missing_ok=True)
