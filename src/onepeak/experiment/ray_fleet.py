"""The tasks of one comparison on a Ray cluster: submits them, reports progress, and collects results."""

import contextlib
import pickle
import re
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onepeak._listing import counted
from onepeak._one_step import clear_unfinished
from onepeak.data.store.transfer import pieces_of
from onepeak.errors import InputError, OnepeakError
from onepeak.experiment.events import Elsewhere, Failed, Finished, Lost, Report
from onepeak.experiment.grid import Run
from onepeak.experiment.mailbox import Mailbox
from onepeak.experiment.opened import Opened
from onepeak.experiment.ray_task import Answer, train_on_node, write_run_files
from onepeak.experiment.run_folder import claim, forget_failure, write_failure
from onepeak.experiment.shipment import pack
from onepeak.experiment.task import known_end

if TYPE_CHECKING:
    from onepeak.experiment.ray_cluster import RayExecutor

RETRIES = 3
"""How often a run starts again after its process was lost."""
MOST_SENT = 4 * 2**30
"""The most bytes of images sent to nodes; larger stores must be under the same path there."""
_LISTEN = 0.5
"""Seconds between two checks of the mailbox."""
_ASK_AGAIN = 1.0
"""Seconds until a run that another process holds is checked again."""
_GOODBYE = 10.0
"""Seconds that an interrupted task has to clean up."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A run that a task trains, or that waits for a node."""

    run: Run
    claim: contextlib.ExitStack


class Fleet:
    """Submitted and waiting runs.

    Args:
        executor: An executor connected to a cluster.
        opened: The experiment with its data.
        folder: The experiment's folder.
        report: Called with every event.
    """

    def __init__(self, executor: "RayExecutor", opened: Opened, folder: Path, *, report: Report) -> None:
        self.executor, self.opened, self.folder, self.report = executor, opened, folder, report
        self.ray, self.share = ray, share = executor.ray, executor.share
        self.since = time.time()
        # Ray can retry lost tasks itself, but does so endlessly when memory runs out, and silently.
        options = {"num_cpus": share.cpus, "num_gpus": share.gpus, "max_retries": 0}
        self.task = ray.remote(train_on_node).options(**options)
        self.mailbox = ray.remote(Mailbox).options(num_cpus=0, max_restarts=-1).remote()
        self.shipment = ray.put(pack(opened))
        self.pieces: list[Any] | None = None
        self.waiting: deque[tuple[float, Run]] = deque()  # with the time before which not to start it
        self.out: dict[Any, Sent] = {}
        self.losses: Counter[str] = Counter()

    def train(self, runs: Sequence[Run]) -> None:
        """Submits runs until all have ended."""
        self.waiting.extend((0.0, run) for run in runs)
        while self.waiting or self.out:
            self.send()
            if not self.out:
                time.sleep(_LISTEN)
                continue
            ended, _ = self.ray.wait(list(self.out), timeout=_LISTEN)
            self.listen()
            for task in ended:
                self.receive(task)

    def send(self) -> None:
        """Claims and submits as many runs as allowed."""
        most = self.executor.most() if self.waiting else 0
        while len(self.out) < most and self.waiting and self.waiting[0][0] <= time.monotonic():
            _, run = self.waiting.popleft()
            place = run.folder(self.folder)
            with contextlib.ExitStack() as stack:
                ours = stack.enter_context(claim(place))
                known = known_end(run, place, ours=ours, since=self.since)
                if known is None:
                    clear_unfinished(place)
                    task = self.task.remote(
                        run,
                        self.shipment,
                        self.pieces,
                        self.mailbox,
                        device=self.share.device,
                        threads=self.share.threads,
                    )
                    self.out[task] = Sent(run=run, claim=stack.pop_all())
                    continue
            if isinstance(known, Elsewhere):
                self.waiting.append((time.monotonic() + _ASK_AGAIN, run))
            self.report(known)

    def listen(self) -> None:
        """Forwards the events of active runs; missing some of them changes no result."""
        try:
            messages = self.ray.get(self.mailbox.take.remote(), timeout=_GOODBYE)
        except self.ray.exceptions.RayError:
            return
        out = {sent.run.name for sent in self.out.values()}
        for event in map(pickle.loads, messages):
            if event.run.name in out:  # else it arrived after the run's end
                self.report(event)

    def receive(self, task: Any) -> None:
        """Handles a task that has ended: its run has finished, has failed, or must be submitted again."""
        sent = self.out.pop(task)
        with sent.claim:
            end = self.end_of(task, sent.run)
        if end is None:
            self.waiting.appendleft((0.0, sent.run))
        else:
            self.report(end)

    def end_of(self, task: Any, run: Run) -> Finished | Failed | Elsewhere | None:
        """Fetches the outcome of a run; None if it must be submitted again."""
        place = run.folder(self.folder)
        try:
            answer: Answer | None = self.ray.get(task)
        except self.ray.exceptions.RayTaskError as error:
            cause = error.cause
            message = str(cause) if isinstance(cause, OnepeakError) else f"{type(cause).__name__}: {cause}"
            return self.failed(run, message, error)
        except self.ray.exceptions.RayError as error:  # the process, the node or its answer is lost
            self.losses[run.name] += 1
            reason = re.split(r"(?<=\.)\s", str(error).strip(), maxsplit=1)[0]  # Ray's messages are long
            if self.losses[run.name] <= RETRIES:
                self.report(Lost(run=run, message=reason))
                return None
            times = counted(self.losses[run.name], "time")
            return self.failed(run, f"Its process was lost {times}, the last time with: {reason}", error)
        if answer is None:
            self.send_pictures()
            return None
        write_run_files(answer.files, place)
        if isinstance(answer.outcome, Finished):
            forget_failure(place)
        return answer.outcome

    def failed(self, run: Run, message: str, error: Exception) -> Failed:
        """Records the failure of a run that could not do so itself."""
        write_failure(run.folder(self.folder), run, message, error=error)
        return Failed(run=run, message=message)

    def send_pictures(self) -> None:
        """Provides the images for nodes that do not see them; done once, and Ray copies them to each node once."""
        store = self.opened.prepared.store
        if store is None or self.pieces is not None:
            return
        if store.num_bytes > MOST_SENT:
            raise InputError(
                f"The decoded images take {store.num_bytes / 2**30:.1f} GiB, more than the "
                f"{MOST_SENT / 2**30:.1f} GiB that can be sent to nodes: put {store.folder} under the same "
                "path on every node, or give a --cache on a disk that all nodes share."
            )
        self.pieces = [self.ray.put(piece) for piece in pieces_of(store)]

    def stop(self) -> None:
        """Ends all tasks and releases their runs."""
        for force in (False, True):  # first let them clean up
            for task in self.out:
                with contextlib.suppress(self.ray.exceptions.RayError):
                    self.ray.cancel(task, force=force)
            if self.out:
                ended, _ = self.ray.wait(list(self.out), num_returns=len(self.out), timeout=_GOODBYE)
                for task in ended:
                    self.out.pop(task).claim.close()
        for sent in self.out.values():
            sent.claim.close()
        self.out.clear()
        with contextlib.suppress(self.ray.exceptions.RayError):
            self.ray.kill(self.mailbox)
