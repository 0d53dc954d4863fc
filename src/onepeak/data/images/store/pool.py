"""A pool of decoding workers that returns answers in the order of the tasks.

Each worker is a fresh interpreter that runs `onepeak.data.images.store.worker`. Unlike a multiprocessing pool it
neither forks a process that has threads nor imports the user's main script again, so a store can be built from a plain
script, a notebook, or a daemon process. Processes are faster than threads, although Pillow releases the GIL while it
decodes: 16 threads were 1.2 to 3 times as fast as one, 16 processes 8 to 9 times.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import IO, NamedTuple

from onepeak.data.images.resize import Resize
from onepeak.data.images.store.failures import StoreError
from onepeak.data.images.store.worker import DecodedImage, ImageFile, write_part

_START = "from onepeak.data.images.store.worker import main\nmain()\n"


class Task(NamedTuple):
    """Consecutive images to decode into one file."""

    part: Path
    sources: list[ImageFile]
    resize: Resize
    bits: int | None = None


def run_tasks(
    tasks: Iterable[Task], *, workers: int, log: Path
) -> Generator[tuple[Task, list[DecodedImage]], None, None]:
    """Runs tasks and yields each with its answers, in order.

    Args:
        tasks: The tasks; consumed lazily, so that few parts are on disk at any time.
        workers: The number of processes; with 1, the work is done in this process.
        log: File for the standard error of the decoders.

    Raises:
        OSError: A part could not be written.
        StoreError: A worker died.
    """
    if workers == 1:
        for task in tasks:
            with task.part.open("wb") as file:
                answers = list(write_part(file, task.sources, task.resize, bits=task.bits))
            yield task, answers
        return
    with log.open("wb") as errors:
        team = [_Worker(errors) for _ in range(workers)]
        try:
            yield from _in_order(tasks, team)
        finally:  # also when the caller stops early or is interrupted
            for worker in team:
                worker.end()


def _in_order(tasks: Iterable[Task], team: list["_Worker"]) -> Iterator[tuple[Task, list[DecodedImage]]]:
    idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    for worker in team:
        idle.put(worker)

    def run(task: Task) -> list[DecodedImage]:
        worker = idle.get()
        try:
            return worker.run(task)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(len(team), thread_name_prefix="onepeak-store") as threads:
        waiting: deque[tuple[Task, Future[list[DecodedImage]]]] = deque()
        try:
            for task in tasks:
                waiting.append((task, threads.submit(run, task)))
                if len(waiting) > 2 * len(team):
                    first, answers = waiting.popleft()
                    yield first, answers.result()
            while waiting:
                first, answers = waiting.popleft()
                yield first, answers.result()
        finally:
            if waiting:  # stopped early: killing a worker frees the thread that waits for it
                for _, unfinished in waiting:
                    unfinished.cancel()
                for worker in team:
                    worker.kill()


class _Worker:
    """One decoding process and its two pipes."""

    def __init__(self, errors: IO[bytes]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="ascii",
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def run(self, task: Task) -> list[DecodedImage]:
        """Sends a task and waits for its answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        answers: list[DecodedImage] = []
        try:
            message = [str(task.part), task.sources, asdict(task.resize), task.bits]
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            for line in self._process.stdout:
                match json.loads(line):
                    case None:
                        return answers
                    case [int(number), str(reason)]:
                        raise OSError(number, reason)
                    case fields:
                        answers.append(DecodedImage(*fields))
        except BrokenPipeError:
            pass
        raise self._death(task.sources[min(len(answers), len(task.sources) - 1)].path)

    def _death(self, path: str) -> StoreError:
        code = self._process.wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        return StoreError(
            f"A decoding worker {how} while it read {path}. Out of memory, or a file that breaks its decoder: try "
            "fewer `workers`, and remove the file if it happens again."
        )

    def kill(self) -> None:
        """Kills the process."""
        self._process.kill()

    def end(self) -> None:
        """Closes the pipes and waits for the process to exit."""
        with self._process as process, contextlib.suppress(BrokenPipeError):  # closes both pipes, then waits
            if process.stdin is not None:
                process.stdin.close()  # raises if a dead worker left data unread
