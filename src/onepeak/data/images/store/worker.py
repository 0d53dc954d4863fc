"""Decodes consecutive image files into a part of a store, in a separate process if there are several workers.

The process reads one task per line from its standard input and writes one line per image. It exits at the end of its
input, so a worker outlives a killed parent by at most one part. It imports neither torch nor NumPy, and never the
user's main script.
"""

import errno
import hashlib
import json
import os
import signal
import stat
import sys
import zlib
from collections.abc import Iterator
from typing import IO, Literal, NamedTuple

from onepeak.data.images.decode import UnreadableImageError, decode_image
from onepeak.data.images.resize import Resize

DIGEST_BYTES = 16
THIS_TIME = "the file could not be read this time"
"""Prefix of the reason for a failure of a disk or network, which may be gone the next time with the same file."""


class ImageFile(NamedTuple):
    """A file to decode, and its state when the key of the store was made."""

    path: str
    num_bytes: int
    changed_ns: int


class DecodedImage(NamedTuple):
    """The outcome for one image."""

    outcome: Literal["kept", "bad", "changed"]
    reason: str = ""
    height: int = 0
    width: int = 0
    digest: str = ""
    checksum: int = 0


def write_part(
    part: IO[bytes], sources: list[ImageFile], resize: Resize, *, bits: int | None = None
) -> Iterator[DecodedImage]:
    """Decodes, resizes and appends each image, with one image in memory at a time."""
    for source in sources:
        try:
            data = _read(source)
            if data is None:
                yield DecodedImage("changed")
                continue
            image = decode_image(data, bits=bits)
        except UnreadableImageError as error:
            yield DecodedImage("bad", str(error))
            continue
        image = resize.apply(image)
        pixels = image.tobytes()
        part.write(pixels)
        digest = hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()
        yield DecodedImage("kept", "", image.height, image.width, digest, zlib.crc32(pixels))


def _read(source: ImageFile) -> bytes | None:
    """Returns the bytes of a file, or None if it changed since the key was made."""
    try:
        if not stat.S_ISREG(os.stat(source.path).st_mode):  # noqa: PTH116 (opening a named pipe would block forever)
            raise UnreadableImageError("this is a folder or a device, not a file")
        with open(source.path, "rb") as file:  # noqa: PTH123
            status = os.fstat(file.fileno())
            if (status.st_size, status.st_mtime_ns) != (source.num_bytes, source.changed_ns):
                return None
            return file.read()
    except FileNotFoundError:
        raise UnreadableImageError("there is no such file") from None
    except PermissionError as error:
        raise UnreadableImageError(f"the file may not be read: {error.strerror}") from None
    except OSError as error:
        raise UnreadableImageError(f"{THIS_TIME}: {error.strerror}") from None


def main() -> None:
    """Runs tasks until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent shuts its workers down
    try:
        for line in sys.stdin:
            part, sources, resize, bits = json.loads(line)
            try:
                with open(part, "wb") as file:  # noqa: PTH123
                    for answer in write_part(file, [ImageFile(*each) for each in sources], Resize(**resize), bits=bits):
                        _say(answer)
            except BrokenPipeError:
                raise
            except OSError as error:  # mostly a full disk: the parent raises it again
                _say([error.errno or errno.EIO, error.strerror or str(error)])
            else:
                _say(None)
    except BrokenPipeError:  # the parent is gone
        os._exit(1)


def _say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
