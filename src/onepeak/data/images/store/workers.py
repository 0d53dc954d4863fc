"""Decodes image files into parts of a store, in several processes.

Each worker is a fresh interpreter that imports this file, and neither torch, NumPy nor the user's main script. Unlike a
multiprocessing pool it neither forks a process that has threads nor imports the main script again, so a store can be
built from a plain script, a notebook, or a daemon process. Processes are faster than threads, although Pillow releases
the GIL while it decodes: 16 threads were 1.2 to 3 times as fast as one, 16 processes 8 to 9 times.

A worker reads pickled tasks from its standard input and writes what became of each image. It exits at the end of its
input, so it outlives a killed parent by at most one part.
"""

import contextlib
import hashlib
import os
import pickle
import signal
import stat
import subprocess
import sys
import zlib
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import IO, Literal, NamedTuple

from onepeak.data.images.decode import Image, UnreadableImageError, decode_image
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.failures import StoreError

_START = "from onepeak.data.images.store.workers import main\nmain()\n"
_ENDED = (EOFError, pickle.UnpicklingError)
"""What reading from a pipe raises whose writer has ended."""
DIGEST_BYTES = 16


class ImageFile(NamedTuple):
    """A file to decode, and what distinguishes two versions of it without reading it."""

    path: str
    num_bytes: int
    changed_ns: int


class DecodedImage(NamedTuple):
    """The outcome for one image."""

    outcome: Literal["kept", "bad", "changed"]
    reason: str = ""
    size: tuple[int, int] = (0, 0)
    """Height and width."""
    original: tuple[int, int] = (0, 0)
    """Height and width before the resize."""
    digest: str = ""
    checksum: int = 0


class Task(NamedTuple):
    """Consecutive images to decode into one file."""

    part: Path
    sources: list[ImageFile]
    resize: Resize
    bits: int | None = None


def run_tasks(
    tasks: Iterable[Task], *, workers: int, log: Path
) -> Generator[tuple[Task, list[DecodedImage]], None, None]:
    """Runs tasks and yields each with its answers, in order; with one worker, in this process.

    Tasks are consumed lazily, so that few parts are on disk at any time; `log` gets the standard error of the workers.
    Raises `OSError` if a part could not be written, and `StoreError` if a worker died.
    """
    if workers == 1:
        for task in tasks:
            yield task, list(write_part(task))
        return
    team: list[subprocess.Popen[bytes]] = []
    command, pipe = [sys.executable, "-c", _START], subprocess.PIPE
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with log.open("wb") as errors:
        try:
            for _ in range(workers):
                team.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, env=env))
            assigned = zip(tasks, cycle(team))
            waiting: deque[tuple[Task, subprocess.Popen[bytes]]] = deque()
            while True:
                # Each worker has two tasks or more: it need not wait until an earlier task of another one is done. The
                # answers to so few tasks always fit into its pipe.
                for task, worker in islice(assigned, 2 * workers + 1 - len(waiting)):
                    assert worker.stdin is not None
                    with contextlib.suppress(BrokenPipeError):  # a dead worker: reported when its answer is awaited
                        pickle.dump(task, worker.stdin)
                        worker.stdin.flush()
                    waiting.append((task, worker))
                if not waiting:
                    break
                task, worker = waiting.popleft()
                yield task, _answers(worker, task)
        finally:  # also when the caller stops early or is interrupted
            for worker in team:
                worker.kill()
            for worker in team:
                with contextlib.suppress(BrokenPipeError), worker:  # closes both pipes, then waits
                    pass


def _answers(worker: subprocess.Popen[bytes], task: Task) -> list[DecodedImage]:
    """Waits for the answers to the first task that the worker has not answered yet."""
    assert worker.stdout is not None
    answers: list[DecodedImage] = []
    with contextlib.suppress(*_ENDED):
        while (answer := pickle.load(worker.stdout)) is not None:
            if isinstance(answer, OSError | StoreError):
                raise answer
            answers.append(answer)
        return answers
    code = worker.wait()
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
    raise StoreError(
        f"A decoding worker {how} while it read {task.sources[min(len(answers), len(task.sources) - 1)].path}. Out of "
        "memory, or a file that breaks its decoder: try fewer `workers`, and remove the file if it happens again."
    )


def main() -> None:
    """Runs tasks until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent shuts its workers down

    def say(message: object) -> None:
        pickle.dump(message, sys.stdout.buffer)
        sys.stdout.buffer.flush()

    try:
        while True:
            task: Task = pickle.load(sys.stdin.buffer)
            try:
                for answer in write_part(task):
                    say(answer)
            except BrokenPipeError:
                raise
            except (OSError, StoreError) as error:  # mostly a full disk: the parent raises it again
                say(error)
            else:
                say(None)
    except (BrokenPipeError, *_ENDED):  # the parent is done, or gone
        os._exit(0)


def write_part(task: Task) -> Iterator[DecodedImage]:
    """Decodes, resizes and appends each image, with one image in memory at a time."""
    with open(task.part, "wb") as part:  # noqa: PTH123
        for source in task.sources:
            try:
                data = _read(source)
                if data is None:
                    yield DecodedImage("changed")
                    continue
                image = decode_image(data, bits=task.bits)
            except UnreadableImageError as error:
                yield DecodedImage("bad", str(error))
            else:
                yield append_image(part, image, data, task.resize)


def append_image(part: IO[bytes], image: Image.Image, data: bytes, resize: Resize) -> DecodedImage:
    """Resizes an image and appends its pixels; `data` is what its fingerprint is of."""
    resized = resize.apply(image)
    pixels = resized.tobytes()
    part.write(pixels)
    digest = hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()
    sizes = (resized.height, resized.width), (image.height, image.width)
    return DecodedImage("kept", "", *sizes, digest, zlib.crc32(pixels))


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
    except OSError as error:  # of a disk or network, which may be gone the next time: no property of the image
        raise StoreError(f"{source.path} could not be read this time: {error.strerror}.") from None
