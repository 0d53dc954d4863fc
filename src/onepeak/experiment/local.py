"""Worker processes on this machine: as many runs at once as its GPUs or cores carry."""

import contextlib
import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal, TypeAlias

import torch

from onepeak._check import check_integer
from onepeak.data.store.build import num_cores
from onepeak.errors import OnepeakError
from onepeak.experiment.events import Elsewhere, Failed, Finished, Report
from onepeak.experiment.grid import Run
from onepeak.experiment.opened import Opened
from onepeak.experiment.run_folder import read_result, write_failure
from onepeak.experiment.worker import LOGS, Workplace, log_of, work
from onepeak.training.devices import find_device

StartMethod: TypeAlias = Literal["spawn", "fork"]

_MOST_A_GPU = 8
_MEMORY_A_RUN = 8 * 2**30
"""Bytes of a GPU that a ResNet-18 with batches of 64 stays below."""
_ASK_AGAIN = 1.0
"""Seconds until a run that another process has is looked at again."""
_GOODBYE = 10.0
"""Seconds that a worker has to end by itself."""


class WorkerError(OnepeakError):
    """A worker could not be started."""


class LocalExecutor:
    """Trains runs in processes of this machine, each with its own device and threads.

    On a CPU every worker has one thread unless more are asked for: several runs side by side are faster than one on
    several threads, and the bits of a result do not depend on how many workers there are.

    Args:
        device: As for `onepeak.training.devices.find_device`; "cuda" and "auto" mean all GPUs, workers in turn.
        workers: How many processes; by default one a core, or eight a GPU if memory and cores allow that.
        threads: CPU threads a worker; by default one, and on a GPU its share of the cores.
        start: How processes start; "fork" is faster, and safe only in a process that has no threads and no GPU.
    """

    def __init__(
        self,
        *,
        device: str = "auto",
        workers: int | None = None,
        threads: int | None = None,
        start: StartMethod = "spawn",
    ) -> None:
        self.devices = devices_of(device)
        self.workers = self._most_workers() if workers is None else check_integer("workers", workers, minimum=1)
        on_gpu = self.devices[0].startswith("cuda")
        share = max(1, num_cores() // self.workers) if on_gpu else 1
        self.threads = share if threads is None else check_integer("threads", threads, minimum=1)
        self.start = start

    def _most_workers(self) -> int:
        match torch.device(self.devices[0]).type:
            case "cpu":
                return num_cores()
            case "cuda":
                memory = min(torch.cuda.mem_get_info(device)[0] for device in self.devices)
                fit = min(_MOST_A_GPU, memory // _MEMORY_A_RUN, num_cores() // (2 * len(self.devices)))
                return len(self.devices) * max(1, fit)
            case _:
                return 1

    def run(self, runs: Sequence[Run], opened: Opened, folder: Path, *, report: Report) -> None:
        """Trains all runs; see `Executor`."""
        team = _Team(self, opened, folder)
        try:
            team.train(runs, report)
        except BaseException:
            team.stop()
            raise
        team.dismiss()


def devices_of(device: str) -> tuple[str, ...]:
    """The devices that a name means: "cuda" without a number is all GPUs."""
    found = find_device(device)
    if found.type == "cuda" and ":" not in device:
        return tuple(f"cuda:{number}" for number in range(torch.cuda.device_count()))
    return (str(found),)


class _Team:
    """The workers of one call, and what they are at."""

    def __init__(self, executor: LocalExecutor, opened: Opened, folder: Path) -> None:
        self.executor, self.opened, self.folder = executor, opened, folder
        self.since = time.time()
        self.workers: dict[Connection[Any, Any], _Worker] = {}
        self.logs: list[Path] = []
        self.most = executor.workers

    def train(self, runs: Sequence[Run], report: Report) -> None:
        """Gives out runs until all have ended."""
        waiting = deque((0.0, run) for run in runs)  # with the moment before which to leave it alone
        while waiting or self.busy():
            while len(self.workers) < min(self.most, len(waiting) + self.busy()):
                self.hire()
            for worker in self.workers.values():
                if worker.run is None and waiting and waiting[0][0] <= time.monotonic():
                    worker.give(waiting.popleft()[1])
            for connection in wait(list(self.workers), timeout=_ASK_AGAIN):
                worker = self.workers[connection]  # type: ignore[index]
                try:
                    event = worker.connection.recv()
                except (EOFError, OSError):
                    if run := self.bury(worker, report):
                        waiting.appendleft((0.0, run))
                    continue
                worker.heard_of = worker.began = True
                if isinstance(event, Finished | Failed | Elsewhere):
                    if isinstance(event, Elsewhere):
                        waiting.append((time.monotonic() + _ASK_AGAIN, event.run))
                    worker.run = None
                report(event)

    def busy(self) -> int:
        """How many workers have something to do."""
        return sum(worker.run is not None for worker in self.workers.values())

    def hire(self) -> None:
        """Starts a worker on the next device."""
        devices = self.executor.devices
        place = Workplace(
            opened=self.opened,
            folder=self.folder,
            device=devices[len(self.logs) % len(devices)],
            threads=self.executor.threads,
            since=self.since,
        )
        worker = _Worker(place, self.executor.start)
        self.workers[worker.connection] = worker
        self.logs.append(log_of(self.folder, worker.process.pid))

    def bury(self, worker: "_Worker", report: Report) -> Run | None:
        """A worker is gone: its run has failed, or is given back if the worker had not come so far as to begin it.

        One that goes after an error that was not foreseen may be given a run before its end is noticed.
        """
        del self.workers[worker.connection]
        how, run = worker.end(), worker.run
        if not worker.heard_of:
            self.most -= 1
            if self.most == 0:
                raise WorkerError(f"No worker could be started: the last {how}. {self.last_words(worker)}")
            return run
        if run is None or not worker.began:
            return run
        place = run.folder(self.folder)
        if (result := read_result(place)) is not None:
            report(Finished(run=run, result=result))
            return None
        message = f"The process that trained it {how}. {self.last_words(worker)}"
        write_failure(place, run, message)
        report(Failed(run=run, message=message))
        return None

    def last_words(self, worker: "_Worker") -> str:
        """What a worker has printed last, and where the rest is."""
        log = log_of(self.folder, worker.process.pid)
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
        if not lines:
            return "It said nothing: most often the memory is full, then fewer --workers or a smaller batch help."
        return f"It said at last {lines[-1]!r}, and all it said is in {log}."

    def dismiss(self) -> None:
        """All is done: workers end by themselves."""
        for worker in self.workers.values():
            worker.give(None)
        self.stop(patience=_GOODBYE)

    def stop(self, patience: float = 0.0) -> None:
        """Ends all workers; those that do not go are killed."""
        for worker in self.workers.values():
            worker.process.join(patience)
            worker.process.terminate()
        for worker in self.workers.values():
            worker.end()
        self.workers.clear()
        for log in self.logs:
            if log.exists() and not log.stat().st_size:
                log.unlink()
        with contextlib.suppress(OSError):  # somebody's workers have said something, or are at work
            (self.folder / LOGS).rmdir()


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, place: Workplace, start: StartMethod) -> None:
        context = multiprocessing.get_context("fork") if start == "fork" else multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, place), daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self.run: Run | None = None
        self.heard_of = False
        self.began = False
        """Whether it has said anything since it was given its run."""

    def give(self, run: Run | None) -> None:
        """Sends a run, or None to end; a worker that is gone is noticed when its answer is read."""
        with contextlib.suppress(OSError):
            self.connection.send(run)
        self.run, self.began = run, False

    def end(self) -> str:
        """Waits for the process, killing it where it does not go; how it ended, in words."""
        self.connection.close()
        self.process.join(_GOODBYE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        code = self.process.exitcode or 0
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
