"""Trains runs on a Ray cluster, whose machines need not share a disk with this one.

`RayExecutor` and `Fleet` are at work on the user's machine, `train_on_node` on a node of the cluster.
"""

import contextlib
import logging
import math
import os
import pickle
import re
import shutil
import socket
import tempfile
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import torch

from onepeak._core.check import check_choice, check_integer, check_number
from onepeak._core.files import clear_unfinished, locked, write_in_one_step
from onepeak._core.imports import require
from onepeak._core.wording import counted
from onepeak.data.images.store.build import folder_of_sent, pieces_of, same_store, store_of_pieces
from onepeak.data.images.store.images import ImageStore
from onepeak.data.images.store.index import StoreIndex, default_cache_dir
from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError, OnepeakError, first_line
from onepeak.experiment.compare import failed_by, known_end, train_task
from onepeak.experiment.events import Elsewhere, Event, Failed, Finished, Lost, Report
from onepeak.experiment.folder import claim, forget_failure, write_failure
from onepeak.experiment.plan import Run
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.networks.own_backbone import source_digest
from onepeak.training.devices import make_fabric
from onepeak.training.features import BACKBONE
from onepeak.training.model_files import keep_encoder
from onepeak.training.out_folder import RESULT
from onepeak.training.run import CHECKPOINT, versions


class RayExecutor:
    """Trains every run as a task of a Ray cluster and fetches its files when it ends.

    Nodes need the same library versions. Data and weights are sent to them, and so are images if a node does not see
    the folder of decoded images under the same path. A run whose process or node is lost starts again on another one,
    with bit-identical results. Runs are claimed on this machine, so that several comparisons can share one folder.

    Args:
        address: The cluster's address, see `onepeak.experiment.executors.ray.connect`.
        device: "cpu", "cuda", or "auto" for GPUs if the cluster has any.
        cpus_per_run: CPUs that a run reserves on its node; it computes with as many threads, at least one.
        gpus_per_run: GPUs that a run reserves, 0.25 for four runs on one; by default one, or none on a CPU.
        workers: How many runs at once; by default as many as the cluster can hold, also when it grows or shrinks.
    """

    def __init__(
        self,
        *,
        address: str = "auto",
        device: str = "auto",
        cpus_per_run: float = 1.0,
        gpus_per_run: float | None = None,
        workers: int | None = None,
    ) -> None:
        check_choice("device", device, ("auto", "cpu", "cuda", "gpu"))
        self._asked = None if workers is None else check_integer("workers", workers, minimum=1)
        share = Share(cpus=cpus_per_run, gpus=float(device != "cpu") if gpus_per_run is None else gpus_per_run)
        if device != "auto" and share.device != {"gpu": "cuda"}.get(device, device):
            raise InputError(
                f"`gpus_per_run` must be 0 on a CPU and above 0 on a GPU, got {share.gpus:g} on {device}.",
                argument="gpus_per_run",
            )
        self.ray = connect(address)
        nodes = resources(self.ray)
        if gpus_per_run is None and device == "auto" and not any(node.get("GPU") for node in nodes):
            share = Share(cpus=cpus_per_run, gpus=0.0)
        self.share = share
        self.workers = self._asked or places(nodes, share)
        if not self.workers:
            found = "; ".join(f"{node.get('CPU', 0):g} CPUs and {node.get('GPU', 0):g} GPUs" for node in nodes)
            raise InputError(
                f"`cpus_per_run` and `gpus_per_run` must fit on some node of the cluster, got {share.cpus:g} and "
                f"{share.gpus:g} where the nodes have {found}: ask for less, or give --workers if the cluster grows "
                "on demand."
            )
        self.devices = (f"{counted(len(nodes), 'node')} of a Ray cluster ({share.device})",)

    def speedup(self, num_runs: int) -> float:
        """See `Executor`. Runs that share a GPU from separate processes take turns."""
        return max(1.0, min(self.workers, num_runs) * min(1.0, self.share.gpus or 1.0))

    def run(
        self, runs: Sequence[Run], prepared_experiment: PreparedExperiment, folder: Path, *, report: Report
    ) -> None:
        """Trains all runs; see `Executor`."""
        fleet = Fleet(self, prepared_experiment, folder, report=report)
        try:
            fleet.train(runs)
        finally:
            fleet.stop()

    def most(self) -> int:
        """How many runs to submit: one per place now, plus one to wait for the next free place."""
        return self._asked or places(resources(self.ray), self.share) + 1


_PATIENCE = 10.0
"""Seconds to wait for a cluster; Ray itself waits for minutes."""

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else it warns of an upcoming change
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # else it prints about lost processes to our standard output
}
"""Environment variables that keep Ray quiet, unless the user has set them."""


class ClusterError(OnepeakError):
    """There is no cluster at an address."""


def connect(address: str) -> ModuleType:
    """Joins a cluster for the rest of this process, unless it is in one, and returns the module `ray`.

    Args:
        address: "auto" for the cluster on this machine or in RAY_ADDRESS, host:port of its head node, ray://host:port
            of its client server, or "local" to start one on this machine.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    ray = require("ray", extra="ray", purpose="The executor ray")
    if ray.is_initialized():
        return ray
    place = os.environ.get("RAY_ADDRESS", address) if address == "auto" else address
    if place not in ("auto", "local"):
        _knock(place)
    try:
        ray.init(address=place, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, TimeoutError) as error:
        raise ClusterError(
            f"No Ray cluster could be joined at {place!r} ({first_line(error)}): start one with `ray start --head`, "
            "give its --address, or use --executor local.",
            page="scale",
        ) from error
    return ray


def _knock(address: str) -> None:
    """Refuses a malformed address, and one where nothing listens."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(
            f"`address` must be auto, local, host:port or ray://host:port, got {address!r}.", argument="address"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"Nothing listens at {address!r} ({error}): is the cluster running (`ray start --head`), and is the port "
            "right (6379 for host:port, 10001 for ray://)?",
            page="scale",
        ) from None


@dataclass(frozen=True, kw_only=True)
class Share:
    """The resources that a run reserves on its node."""

    cpus: float
    gpus: float

    def __post_init__(self) -> None:
        check_number("cpus_per_run", self.cpus, above=0.0)
        check_number("gpus_per_run", self.gpus, minimum=0.0)
        if self.gpus > 1 and self.gpus != int(self.gpus):
            raise InputError(
                f"`gpus_per_run` must be a fraction of one GPU or a whole number, got {self.gpus:g}.",
                argument="gpus_per_run",
            )

    @property
    def device(self) -> str:
        """The device it computes on; Ray makes only its own GPU visible to it."""
        return "cuda" if self.gpus else "cpu"

    @property
    def threads(self) -> int:
        """The number of threads it computes with."""
        return max(1, int(self.cpus))


def resources(ray: ModuleType) -> list[dict[str, float]]:
    """Returns the resources of each live node."""
    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def places(nodes: Sequence[Mapping[str, float]], share: Share) -> int:
    """Counts the runs that the nodes hold at once, as Ray packs them: a fraction of a GPU is never split over two."""
    count = 0
    for node in nodes:
        fit, gpus = _times(node.get("CPU", 0.0), share.cpus), node.get("GPU", 0.0)
        if share.gpus:
            fit = min(fit, int(gpus) * _times(1.0, share.gpus) if share.gpus < 1 else _times(gpus, share.gpus))
        count += fit
    return count


def _times(whole: float, part: float) -> int:
    """How many times a part fits into the whole, tolerating rounding: a third fits three times."""
    return math.floor(whole / part + 1e-6)


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


class Sent(NamedTuple):
    """A run that a task trains, or that waits for a node."""

    run: Run
    claim: contextlib.ExitStack


class Fleet:
    """Submitted and waiting runs."""

    def __init__(
        self, executor: "RayExecutor", prepared_experiment: PreparedExperiment, folder: Path, *, report: Report
    ) -> None:
        self.executor, self.prepared_experiment = executor, prepared_experiment
        self.folder, self.report = folder, report
        self.ray, self.share = ray, share = executor.ray, executor.share
        self.since = time.time()
        # Ray can retry lost tasks itself, but does so endlessly when memory runs out, and silently.
        options = {"num_cpus": share.cpus, "num_gpus": share.gpus, "max_retries": 0}
        self.task = ray.remote(train_on_node).options(**options)
        self.mailbox = ray.remote(Mailbox).options(num_cpus=0, max_restarts=-1).remote()
        self.shipment = ray.put(pack(prepared_experiment))
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
                    where = {"device": self.share.device, "threads": self.share.threads}
                    task = self.task.remote(run, self.shipment, self.pieces, self.mailbox, **where)
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
            answer: TaskResult | None = self.ray.get(task)
        except self.ray.exceptions.RayTaskError as error:
            return self.failed(run, failed_by(run, error.cause).message, error)
        except self.ray.exceptions.RayError as error:  # the process, the node or its answer is lost
            self.losses[run.name] += 1
            reason = re.split(r"(?<=\.)\s", str(error).strip(), maxsplit=1)[0]  # Ray's messages are long
            if self.losses[run.name] <= RETRIES:
                self.report(Lost(run=run, message=reason))
                return None
            times = counted(self.losses[run.name], "time")
            return self.failed(run, f"Its process was lost {times}, the last time with: {reason}", error)
        if answer is None:
            self.send_images()
            return None
        if features := self.prepared_experiment.prepared.features:
            features.link_backbone(place)
        if isinstance(rows := self.prepared_experiment.prepared.manifest.items, FeatureRows):
            keep_encoder(place, rows.texts)  # a node need not have it
        write_run_files(answer.files, place)
        if isinstance(answer.outcome, Finished):
            forget_failure(place)
        return answer.outcome

    def failed(self, run: Run, message: str, error: Exception) -> Failed:
        """Records the failure of a run that could not do so itself."""
        write_failure(run.folder(self.folder), run, message, error=error)
        return Failed(run=run, message=message)

    def send_images(self) -> None:
        """Provides the images for nodes that do not see them; done once, and Ray copies them to each node once."""
        store = self.prepared_experiment.prepared.store
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


_NAME = "onepeak-run-"
_LOCK = ".lock"


@contextlib.contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """Creates a folder that is removed at the end of the block; first removes those left by killed processes."""
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    _remove_abandoned(parent)
    folder = parent / f"{_NAME}{uuid.uuid4().hex}"
    lock = folder.with_suffix(_LOCK)
    # Locked before it exists: a folder whose lock is free is then known to be abandoned.
    with locked(lock):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # Windows cannot remove an open file; the next call does
                lock.unlink()


def _remove_abandoned(parent: Path) -> None:
    for lock in parent.glob(f"{_NAME}*{_LOCK}"):
        # The folder may belong to another user, or be gone meanwhile.
        with contextlib.suppress(OSError), locked(lock, wait=False) as abandoned:
            if abandoned:
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink()


Pieces: TypeAlias = Callable[[], Iterable[bytes]]
"""Fetches the pixels of the store, see `onepeak.data.images.store.build.pieces_of`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Shipment:
    """What is sent once to every machine: the whole experiment except its decoded images."""

    prepared_experiment: bytes
    """Without its store and weights; pickled, because arrays in a cluster's memory are read-only."""
    store: tuple[Path, StoreIndex] | None
    """The images' folder on the sending machine, which another machine may see too, and what it holds."""
    weights: tuple[str, bytes] | None
    """Name and content of the file of initial weights."""
    versions: dict[str, str]
    """The library versions on this machine; results would differ with others."""
    backbone_source: str | None
    """A hash of the source file of a user's own backbone, which is not sent."""

    def unpack(self, folder: Path, *, pieces: Pieces | None) -> PreparedExperiment | None:
        """Restores the experiment on the machine where this is called, with its files in a folder.

        Returns None if this machine does not see the images and no pieces were given.

        Raises:
            InputError: The library versions or the file of the user's own backbone differ on this machine.
        """
        arrived: PreparedExperiment = pickle.loads(self.prepared_experiment)
        _check_machine(self, arrived.network.backbone)
        if self.store is not None:
            store = _store(*self.store, pieces)
            if store is None:
                return None
            arrived = replace(arrived, prepared=replace(arrived.prepared, store=store))
        if self.weights is not None:
            name, content = self.weights
            (folder / name).write_bytes(content)
            arrived = replace(arrived, experiment=replace(arrived.experiment, weights=str(folder / name)))
        return arrived


def _store(folder: Path, index: StoreIndex, pieces: Pieces | None) -> ImageStore | None:
    cache_dir = default_cache_dir()
    for each in (folder, folder_of_sent(index, cache_dir)):
        if (store := same_store(each, index)) is not None:
            return store
    return None if pieces is None else store_of_pieces(index, pieces(), cache_dir=cache_dir)


def pack(prepared_experiment: PreparedExperiment) -> Shipment:
    """Packs an experiment for sending."""
    store, weights = prepared_experiment.prepared.store, prepared_experiment.weights_file
    rest = replace(
        prepared_experiment,
        prepared=replace(prepared_experiment.prepared, store=None),
        experiment=replace(prepared_experiment.experiment, weights=None),
        pretrained=None,
    )
    return Shipment(
        prepared_experiment=pickle.dumps(rest),
        store=None if store is None else (store.folder, store.index),
        weights=None if weights is None else (weights.name, weights.read_bytes()),
        versions=versions(),
        backbone_source=source_digest(prepared_experiment.network.backbone),
    )


def _check_machine(shipment: Shipment, backbone: str) -> None:
    """Refuses other library versions (CPU and GPU builds count as equal) and another file of a user's own backbone."""
    host, present = socket.gethostname(), versions()
    differences = [
        f"{name} {present.get(name, 'is missing')} where {version} is needed"
        for name, version in shipment.versions.items()
        if present.get(name, "").partition("+")[0] != version.partition("+")[0]
    ]
    if differences:
        raise InputError(
            f"Every machine must have the same versions, so that results are comparable; {host} has "
            f"{', '.join(differences)}: install the same versions there and here."
        )
    try:
        source = source_digest(backbone)
    except InputError as error:
        raise InputError(f"On {host}: {error}") from error
    if source != shipment.backbone_source:
        raise InputError(
            f"Every machine must have the same source file for the backbone {backbone}, but {host} has another: "
            "install the same one there and here."
        )


class TaskResult(NamedTuple):
    """The return value of a task: how the run ended, and its files."""

    outcome: Finished | Failed | Elsewhere
    files: dict[str, bytes]


def train_on_node(
    run: Run, shipment: Shipment, pieces: list[Any] | None, mailbox: Any, *, device: str, threads: int
) -> TaskResult | None:
    """Trains a run from its beginning, with every event sent to the mailbox; nothing remains on the node.

    Returns None if the pieces of the images are needed and were not given.
    """
    _leave_other_teams()
    torch.set_num_threads(threads)

    def report(event: Event) -> None:
        mailbox.post.remote(pickle.dumps(event))  # without waiting for its arrival

    with scratch_folder() as folder:
        prepared_experiment = shipment.unpack(folder, pieces=None if pieces is None else lambda: _fetched(pieces))
        if prepared_experiment is None:
            return None
        fabric = make_fabric(device=device, precision=prepared_experiment.experiment.precision)
        outcome = train_task(run, prepared_experiment, folder, fabric=fabric, report=report)
        return TaskResult(outcome=outcome, files=read_run_files(run.folder(folder)))


def _fetched(pieces: list[Any]) -> Iterator[bytes]:
    ray = require("ray", extra="ray", purpose="The executor ray")
    for piece in pieces:  # one at a time, so that a small object store suffices
        yield ray.get(piece)


def _leave_other_teams() -> None:
    """Hides SLURM's and torchrun's variables: a run is one process, however its node was started."""
    for name in list(os.environ):
        if name.startswith("SLURM_") or name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
            del os.environ[name]


def read_run_files(folder: Path) -> dict[str, bytes]:
    """Reads every file that a run leaves, by name; files needed for training only are left out."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in (CHECKPOINT, BACKBONE) and not path.name.startswith(".")
    }


def write_run_files(files: dict[str, bytes], folder: Path) -> None:
    """Writes the files to the run's folder, the result last: a folder with a result is complete."""
    for name in sorted(files, key=lambda name: name == RESULT):
        write_in_one_step(folder / name, partial(Path.write_bytes, data=files[name]))
    if RESULT in files:
        (folder / CHECKPOINT).unlink(missing_ok=True)  # left by an earlier start elsewhere


class Mailbox:
    """Keeps messages in the order of arrival; they are bytes, so that its process need not import their classes."""

    def __init__(self) -> None:
        self._messages: list[bytes] = []

    def post(self, message: bytes) -> None:
        """Adds a message."""
        self._messages.append(message)

    def take(self) -> list[bytes]:
        """Returns all messages since the last call."""
        messages, self._messages = self._messages, []
        return messages
