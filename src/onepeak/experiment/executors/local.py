"""Trains runs in worker processes on this machine, as many at once as its GPUs or cores allow."""

import contextlib
import math
import time
from collections import deque
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal

import torch

from onepeak._core.check import check_integer
from onepeak._core.files import NotWrittenError
from onepeak.data.images.store.build import num_cores
from onepeak.errors import InputError, OnepeakError
from onepeak.experiment.events import Elsewhere, Event, Failed, Finished, Lost, Report
from onepeak.experiment.executors.worker import GOODBYE, LOGS, Capacity, Ready, StartMethod, WorkerProcess, Workplace
from onepeak.experiment.folder import forget_failure, read_result, write_failure
from onepeak.experiment.plan import Run
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.training.devices import find_device
from onepeak.training.pack import MOST_LANES, PACKING_GAIN

_ASK_AGAIN = 1.0
"""Seconds until a run that another process holds is checked again."""


class WorkerError(OnepeakError):
    """A worker could not be started."""


class LocalExecutor:
    """Trains runs in processes on this machine, each with its own device and threads.

    On a CPU every run has a process and one thread unless more are requested: several runs in parallel are faster than
    one run on several threads. On a GPU runs share one process; see `onepeak.training.pack`. Results are bit-identical
    for all of these settings.

    Args:
        device: As for `onepeak.training.devices.find_device`; "cuda" and "auto" use all GPUs in turn.
        workers: How many runs at once; by default one per core, or as many as fit on each GPU.
        pack: How many of them share a process; "auto" means one on a CPU, and as many as fit on a GPU.
        threads: CPU threads per process; by default one, or on a GPU its share of the cores.
        start: How processes start; "fork" is faster, but safe only in a process without threads and without a GPU.
    """

    def __init__(
        self,
        *,
        device: str = "auto",
        workers: int | None = None,
        pack: int | Literal["auto"] = "auto",
        threads: int | None = None,
        start: StartMethod = "spawn",
    ) -> None:
        self.devices = devices_of(device)
        on_gpu = self.devices[0].startswith("cuda")
        self.finds_room = on_gpu and pack == "auto"
        self.must_pack = pack != "auto"
        lanes = (MOST_LANES if on_gpu else 1) if pack == "auto" else check_integer("pack", pack, minimum=1)
        places = num_cores() if self.devices[0] == "cpu" else len(self.devices)
        most = places * lanes if on_gpu else places
        self.workers = most if workers is None else check_integer("workers", workers, minimum=1)
        self.processes = min(self.workers, places) if self.finds_room else math.ceil(self.workers / lanes)
        self.lanes = math.ceil(self.workers / self.processes)
        self.alone = places if workers is None else self.workers
        """The number of processes if runs must not share one; by default one per GPU."""
        share = max(1, num_cores() // self.processes) if on_gpu else 1
        self.threads = share if threads is None else check_integer("threads", threads, minimum=1)
        self.start = start

    def speedup(self, num_runs: int) -> float:
        """See `Executor`."""
        at_once = min(self.workers, num_runs)
        if not self.devices[0].startswith("cuda"):
            return float(max(1, min(at_once, num_cores())))
        gpus = max(1, min(at_once, len(self.devices)))
        return gpus * (PACKING_GAIN if at_once > gpus and self.lanes > 1 else 1.0)

    def run(
        self, runs: Sequence[Run], prepared_experiment: PreparedExperiment, folder: Path, *, report: Report
    ) -> None:
        """Trains all runs; see `Executor`."""
        packable = self.lanes == 1 or prepared_experiment.can_pack
        if not packable and self.must_pack:
            raise InputError(
                "`pack` must be 1 for a network with dropout or of your own, because runs in one process share its "
                f"random numbers, got {self.lanes}.",
                argument="pack",
            )
        team = _Team(self, prepared_experiment, folder, can_pack=packable)
        try:
            team.train(runs, report)
        except BaseException:
            team.stop()
            raise
        team.dismiss()


def devices_of(device: str) -> tuple[str, ...]:
    """Returns the devices that a name stands for: "cuda" without a number means all GPUs."""
    found = find_device(device)
    if found.type == "cuda" and ":" not in device:
        return tuple(f"cuda:{number}" for number in range(torch.cuda.device_count()))
    return (str(found),)


def least_busy(devices: Sequence[str], busy: Sequence[str]) -> str:
    """Returns the device with the fewest workers, the first of equals, so that a new worker replaces one that ended."""
    return min(devices, key=busy.count)


class _Team:
    """The workers of one call and their state.

    A run that fails, or whose worker ends, is not always lost. The first row that applies decides (`judged` for the
    first four, `bury` for the others):

    ==============================================================  =================================================
    its error was foreseen, such as a loss that is not finite       it has failed
    it was alone in its process                                     it has failed; its worker gets no other run
    it ran out of memory                                            it is next again; its worker holds one run less
    another error                                                   alone, after all others; its worker gets no more
    its worker ended before it was ready                            it is next again, with one worker less
    its result is written                                           it has finished
    it was not alone in its process                                 alone, after all others
    its worker had not reported on it, and it was not alone before  alone, after all others
    any other run whose worker ended                                it has failed
    ==============================================================  =================================================

    *Alone* means in a process that trains no other run meanwhile (`suspects`).
    """

    def __init__(
        self, executor: LocalExecutor, prepared_experiment: PreparedExperiment, folder: Path, *, can_pack: bool
    ) -> None:
        self.executor, self.prepared_experiment, self.folder = executor, prepared_experiment, folder
        self.since = time.time()
        self.workers: dict[Connection[Any, Any], WorkerProcess] = {}
        self.logs: list[Path] = []
        self.waiting: deque[tuple[float, Run]] = deque()
        """Runs to be trained, each with the time before which it is not to be started."""
        self.suspects: set[str] = set()
        """The names of runs that may have crashed a process: they are trained alone."""
        self.lanes = executor.lanes if can_pack else 1
        self.finds_room = executor.finds_room and self.lanes > 1
        self.most = executor.processes if can_pack else executor.alone

    def train(self, runs: Sequence[Run], report: Report) -> None:
        """Distributes runs until all have ended."""
        self.waiting.extend((0.0, run) for run in runs)
        while self.waiting or self.busy():
            while len(self.workers) < min(self.most, len(self.waiting) + self.busy()):
                self.hire()
            while (next_one := self.next_run()) is not None and (worker := self.free_worker(next_one)) is not None:
                self.waiting.popleft()
                worker.give(next_one)
            for connection in wait(list(self.workers), timeout=_ASK_AGAIN):
                worker = self.workers[connection]  # type: ignore[index]
                try:
                    event = worker.connection.recv()
                except (EOFError, OSError):
                    self.bury(worker, report)
                    continue
                if isinstance(event, Ready):
                    worker.is_ready = True
                    continue
                if isinstance(event, Capacity):
                    worker.lanes = event.lanes
                    continue
                event = self.judged(worker, event)
                worker.heard(event)
                if isinstance(event, Elsewhere):
                    self.waiting.append((time.monotonic() + _ASK_AGAIN, event.run))
                report(event)
                if worker.is_spent and not worker.runs:
                    self.retire(worker)

    def judged(self, worker: WorkerProcess, event: Event) -> Event:
        """A failure that another run in the same process may have caused does not count yet: the run is tried again."""
        if not isinstance(event, Failed) or not event.unforeseen or event.run.name not in worker.accompanied:
            return event
        with contextlib.suppress(OSError):  # the folder cannot be used; the run will fail again
            forget_failure(event.run.folder(self.folder))
        if event.out_of_memory:
            worker.lanes = max(1, len(worker.runs) - 1)
            self.waiting.appendleft((0.0, event.run))
        else:
            worker.is_spent = True
            self.try_alone(event.run)
        return Lost(run=event.run, message=event.message)

    def try_alone(self, run: Run) -> None:
        """Queues a run, after all others, for a process that trains no other run."""
        self.suspects.add(run.name)
        self.waiting.append((0.0, run))

    def busy(self) -> int:
        """How many runs are being trained."""
        return sum(len(worker.runs) for worker in self.workers.values())

    def next_run(self) -> Run | None:
        """The next run to start; None if there is none, or it must wait a moment."""
        return self.waiting[0][1] if self.waiting and self.waiting[0][0] <= time.monotonic() else None

    def free_worker(self, run: Run) -> WorkerProcess | None:
        """The least busy worker that can take a run; None if there is none, or enough runs are being trained."""
        if self.busy() >= self.executor.workers:  # need not be a multiple of the lanes
            return None

        def has_room(worker: WorkerProcess) -> bool:
            alone = not self.suspects.isdisjoint({run.name, *worker.runs})
            return not worker.is_spent and len(worker.runs) < (1 if alone else worker.lanes)

        free = filter(has_room, self.workers.values())
        return min(free, key=lambda each: len(each.runs), default=None)

    def hire(self) -> None:
        """Starts a worker on the least busy device."""
        place = Workplace(
            prepared_experiment=self.prepared_experiment,
            folder=self.folder,
            device=least_busy(self.executor.devices, [worker.device for worker in self.workers.values()]),
            threads=self.executor.threads,
            lanes=self.lanes,
            finds_room=self.finds_room,
            since=self.since,
        )
        worker = WorkerProcess(place, self.executor.start)
        self.workers[worker.connection] = worker
        self.logs.append(worker.log)

    def retire(self, worker: WorkerProcess) -> None:
        """Ends a worker that an error may have left unfit for another run; a new one replaces it."""
        worker.dismiss()
        del self.workers[worker.connection]
        worker.end()

    def bury(self, worker: WorkerProcess, report: Report) -> None:
        """Handles a worker that has ended: with several runs, the culprit is not known.

        A run that it had not reported on may have been assigned when it was about to end.
        """
        del self.workers[worker.connection]
        how = worker.end()
        if not worker.is_ready:
            self.most -= 1
            if self.most == 0:
                raise WorkerError(f"No worker could be started: the last {how}. {worker.last_words()}")
        for name, run in worker.runs.items():
            place = run.folder(self.folder)
            message = f"The process that trained it {how}. {worker.last_words()}"
            if not worker.is_ready:
                self.waiting.appendleft((0.0, run))
            elif (result := read_result(place)) is not None:
                report(Finished(run=run, result=result))
            elif name in worker.accompanied or (name not in worker.begun and name not in self.suspects):
                self.try_alone(run)
                report(Lost(run=run, message=message))
            else:
                with contextlib.suppress(OSError, NotWrittenError):  # the folder cannot be used
                    place.mkdir(parents=True, exist_ok=True)
                    write_failure(place, run, message)
                report(Failed(run=run, message=message))

    def dismiss(self) -> None:
        """All runs are done: lets the workers end by themselves."""
        for worker in self.workers.values():
            worker.dismiss()
        self.stop(patience=GOODBYE)

    def stop(self, patience: float = 0.0) -> None:
        """Ends all workers; those that do not end in time are killed."""
        for worker in self.workers.values():
            worker.process.join(patience)
            worker.process.terminate()
        for worker in self.workers.values():
            worker.end()
        self.workers.clear()
        for log in self.logs:
            if log.exists() and not log.stat().st_size:
                log.unlink()
        with contextlib.suppress(OSError):  # not empty: logs remain, or other workers are active
            (self.folder / LOGS).rmdir()
