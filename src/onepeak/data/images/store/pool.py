"""A pool of decoding workers that returns answers in the order of the tasks.

Each worker is a fresh interpreter that runs `onepeak.data.images.store.worker`. Unlike a multiprocessing pool it
neither forks a process that has threads nor imports the user's main script again, so a store can be built from a plain
script, a notebook, or a daemon process. Processes are faster than threads, although Pillow releases the GIL while it
decodes: 16 threads were 1.2 to 3 times as fast as one, 16 processes 8 to 9 times.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import asdict
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

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
    """Runs tasks and yields each with its answers, in order; with one worker, in this process.

    Tasks are consumed lazily, so that few parts are on disk at any time; `log` gets the standard error of the workers.
    Raises `OSError` if a part could not be written, and `StoreError` if a worker died.
    """
    if workers == 1:
        for task in tasks:
            with task.part.open("wb") as file:
                answers = list(write_part(file, task.sources, task.resize, bits=task.bits))
            yield task, answers
        return
    team: list[subprocess.Popen[str]] = []
    with log.open("wb") as errors:
        try:
            for _ in range(workers):
                team.append(
                    subprocess.Popen(
                        [sys.executable, "-c", _START],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=errors,
                        text=True,
                        encoding="ascii",
                        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                    )
                )
            assigned = zip(tasks, cycle(team))
            waiting: deque[tuple[Task, subprocess.Popen[str]]] = deque()
            while True:
                # Each worker has two tasks or more: it need not wait until an earlier task of another one is done. The
                # answers to so few tasks always fit into its pipe.
                for task, worker in islice(assigned, 2 * workers + 1 - len(waiting)):
                    assert worker.stdin is not None
                    message = [str(task.part), task.sources, asdict(task.resize), task.bits]
                    with contextlib.suppress(BrokenPipeError):  # a dead worker: reported when its answer is awaited
                        worker.stdin.write(json.dumps(message) + "\n")
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


def _answers(worker: subprocess.Popen[str], task: Task) -> list[DecodedImage]:
    """Waits for the answers to the first task that the worker has not answered yet."""
    assert worker.stdout is not None
    answers: list[DecodedImage] = []
    for line in worker.stdout:
        match json.loads(line):
            case None:
                return answers
            case [int(number), str(reason)]:
                raise OSError(number, reason)
            case fields:
                answers.append(DecodedImage(*fields))
    code = worker.wait()
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
    raise StoreError(
        f"A decoding worker {how} while it read {task.sources[min(len(answers), len(task.sources) - 1)].path}. Out of "
        "memory, or a file that breaks its decoder: try fewer `workers`, and remove the file if it happens again."
    )
