"""Reads text files written by users."""

from pathlib import Path

from onepeak._nearest import did_you_mean_file
from onepeak.errors import InputError


def read_text(path: Path) -> str:
    """Reads a UTF-8 file, with or without a byte order mark; raises an error that names the first bad byte."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path} must be UTF-8 text, but line {line} has the invalid byte 0x{error.object[error.start]:02x}. "
            "Save it again as UTF-8."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.{did_you_mean_file(path)}") from error
