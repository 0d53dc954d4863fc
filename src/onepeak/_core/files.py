"""Files: atomic writes, locks, the home folder, and text with errors that name the first bad byte."""

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from onepeak._core.wording import did_you_mean_file
from onepeak.errors import InputError, OnepeakError


class NotWrittenError(OnepeakError):
    """A file could not be written; its previous content is kept."""


@contextmanager
def in_one_step(path: Path) -> Iterator[Path]:
    """Yields a temporary file beside the target to write to; flushes it to disk and renames it, unless that failed."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.touch()
        rights = part.stat().st_mode
        yield part
        part.chmod(rights)  # safetensors makes the file readable by its owner only
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        part.replace(path)
    except OSError as error:  # any other error is of what is written, such as a prediction
        raise not_written(path, error) from error
    finally:
        part.unlink(missing_ok=True)  # exists only if writing failed or was interrupted


def write_in_one_step(path: Path, write: Callable[[Path], object]) -> None:
    """Calls a function that writes a file; see `in_one_step`."""
    with in_one_step(path) as part:
        try:
            write(part)
        except OnepeakError:
            raise
        except Exception as error:  # an OSError, or the type torch and safetensors wrap it in
            raise not_written(path, error) from error


def not_written(path: Path, error: Exception) -> NotWrittenError:
    """Returns the error of a file that could not be written."""
    return NotWrittenError(f"{path} could not be written ({error}); its previous content is kept.")


def write_text_in_one_step(path: Path, text: str) -> None:
    """Writes text with the same bytes on every system; see `write_in_one_step`."""
    write_in_one_step(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def link_or_copy(source: Path, target: Path) -> None:
    """Gives a large file a second name, which costs nothing; copies it where the disk does not allow that."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        os.link(source.resolve(), part)
        part.replace(target)
    except OSError:  # another disk
        write_in_one_step(target, lambda part: shutil.copyfile(source, part))
    finally:
        part.unlink(missing_ok=True)  # renaming a file to its own other name leaves both


def clear_unfinished(folder: Path) -> None:
    """Removes the temporary files that killed writers left in a folder. No writer may be active there."""
    for part in folder.glob(".*.part"):
        part.unlink(missing_ok=True)


_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})


class NoLocksError(OnepeakError):
    """The file system does not support file locks."""


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Holds a lock on a file, and creates the file if it does not exist.

    The empty file is never deleted: otherwise two processes could hold locks on different files of the same name.

    Yields:
        Whether the lock is held. Always True with `wait`.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _lock(descriptor, path, wait=wait)
    finally:
        os.close(descriptor)  # releases the lock


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, path: Path, *, wait: bool) -> bool:  # noqa: ARG001 - Windows always has locks
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError:  # LK_LOCK gives up after ten seconds
                if not wait:
                    return False
            else:
                return True
else:
    import fcntl

    def _lock(descriptor: int, path: Path, *, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in _NO_LOCKS:
                raise NoLocksError(
                    f"The file system of {path.parent} has no file locks ({error.strerror}): "
                    "choose a folder on a local disk."
                ) from None
            raise
        return True


def expanded(path: str | Path) -> Path:
    """The path with ~ or ~user replaced by the home folder.

    Example:
        >>> expanded("~/scans") == Path.home() / "scans", expanded("scans~").name
        (True, 'scans~')
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:  # no such user, or a user without a home
        raise InputError(
            f"A path that starts with ~ must name an existing home folder, got {path}: use the absolute path."
        ) from None


def read_text(path: Path, encoding: str | None = None, *, fix: str = "") -> str:
    """Reads a text file, UTF-8 by default, with or without a byte order mark; an error names the first bad byte.

    `fix` is what else a user can do than save it again as UTF-8.
    """
    codec = "utf-8-sig" if encoding is None or encoding.lower() in ("utf-8", "utf8") else encoding
    try:
        return path.read_bytes().decode(codec)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path} must be {encoding or 'UTF-8'} text, but line {line} has the invalid byte "
            f"0x{error.object[error.start]:02x}. Save it again as UTF-8{f', or {fix}' if fix else ''}."
        ) from None
    except LookupError:
        raise InputError(f"`encoding` must be a known one, such as cp1252, got {encoding!r}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.{did_you_mean_file(path)}") from error
