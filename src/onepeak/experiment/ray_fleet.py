"""The tasks of one comparison on a Ray cluster: sent out, listened to, brought home."""

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
"""How often a run begins anew after its process was lost."""
MOST_SENT = 4 * 2**30
"""Bytes of images that are sent to nodes at most; more must be under the same path there."""
_LISTEN = 0.5
"""Seconds between two looks at the mailbox."""
_ASK_AGAIN = 1.0
"""Seconds until a run that another process has is looked at again."""
_GOODBYE = 10.0
"""Seconds that an interrupted task has to clear up."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A run that a task has, or waits for a node to have."""

    run: Run
    claim: contextlib.ExitStack


class Fleet:
    """Runs that are out, and those that wait.

    Args:
        executor: Joined to a cluster.
        opened: The experiment with its data.
        folder: The experiment's folder.
        report: Who is told of every event.
    """

    def __init__(self, executor: "RayExecutor", opened: Opened, folder: Path, *, report: Report) -> None:
        self.executor, self.opened, self.folder, self.report = executor, opened, folder, report
        self.ray, self.share = ray, share = executor.ray, executor.share
        self.since = time.time()
        # Ray can repeat lost tasks itself, but does so without end where memory ran out, and says nothing.
        options = {"num_cpus": share.cpus, "num_gpus": share.gpus, "max_retries": 0}
        self.task = ray.remote(train_on_node).options(**options)
        self.mailbox = ray.remote(Mailbox).options(num_cpus=0, max_restarts=-1).remote()
        self.shipment = ray.put(pack(opened))
        self.pieces: list[Any] | None = None
        self.waiting: deque[tuple[float, Run]] = deque()  # with the moment before which to leave it alone
        self.out: dict[Any, Sent] = {}
        self.losses: Counter[str] = Counter()

    def train(self, runs: Sequence[Run]) -> None:
        """Sends out runs until all have ended."""
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
        """Claims runs and sends them, as many as may be out."""
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
        """Passes on what runs at work have told; to miss some of it changes no result."""
        try:
            messages = self.ray.get(self.mailbox.take.remote(), timeout=_GOODBYE)
        except self.ray.exceptions.RayError:
            return
        out = {sent.run.name for sent in self.out.values()}
        for event in map(pickle.loads, messages):
            if event.run.name in out:  # else it came later than the run's end
                self.report(event)

    def receive(self, task: Any) -> None:
        """A task has ended: its run is at home, failed, or to be sent once more."""
        sent = self.out.pop(task)
        with sent.claim:
            end = self.end_of(task, sent.run)
        if end is None:
            self.waiting.appendleft((0.0, sent.run))
        else:
            self.report(end)

    def end_of(self, task: Any, run: Run) -> Finished | Failed | Elsewhere | None:
        """Brings home what came of a run; None where it must be sent once more."""
        place = run.folder(self.folder)
        try:
            answer: Answer | None = self.ray.get(task)
        except self.ray.exceptions.RayTaskError as error:
            cause = error.cause
            message = str(cause) if isinstance(cause, OnepeakError) else f"{type(cause).__name__}: {cause}"
            return self.failed(run, message, error)
        except self.ray.exceptions.RayError as error:  # the process or the node is gone, or what it had answered
            self.losses[run.name] += 1
            reason = re.split(r"(?<=\.)\s", str(error).strip(), maxsplit=1)[0]  # Ray goes on at length
            if self.losses[run.name] <= RETRIES:
                self.report(Lost(run=run, message=reason))
                return None
            times = counted(self.losses[run.name], "time")
            return self.failed(run, f"Its process was lost {times}, at last so: {reason}", error)
        if answer is None:
            self.send_pictures()
            return None
        write_run_files(answer.files, place)
        if isinstance(answer.outcome, Finished):
            forget_failure(place)
        return answer.outcome

    def failed(self, run: Run, message: str, error: Exception) -> Failed:
        """Writes down why a run failed that could not do so itself."""
        write_failure(run.folder(self.folder), run, message, error=error)
        return Failed(run=run, message=message)

    def send_pictures(self) -> None:
        """Makes the images ready for nodes that do not see them; once, and Ray copies them to each node once."""
        store = self.opened.prepared.store
        if store is None or self.pieces is not None:
            return
        if store.num_bytes > MOST_SENT:
            raise InputError(
                f"The decoded images have {store.num_bytes / 2**30:.1f} GiB, more than the "
                f"{MOST_SENT / 2**30:.1f} GiB that are sent to nodes: put {store.folder} under the same "
                "path on every node, or give a --cache on a disk that all nodes share."
            )
        self.pieces = [self.ray.put(piece) for piece in pieces_of(store)]

    def stop(self) -> None:
        """Ends all tasks and frees their runs."""
        for force in (False, True):  # first so that they can clear up
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
