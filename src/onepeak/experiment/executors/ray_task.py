"""The task on a node of a Ray cluster: trains one run in a temporary folder and returns its files."""

import contextlib
import os
import pickle
import shutil
import socket
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import torch

from onepeak._core.files import locked, write_in_one_step
from onepeak._core.imports import require
from onepeak.data.images.store.images import ImageStore, StoreIndex
from onepeak.data.images.store.key import default_cache_dir
from onepeak.data.images.store.transfer import folder_of_sent, same_store, store_of_pieces
from onepeak.errors import InputError
from onepeak.experiment.events import Elsewhere, Event, Failed, Finished
from onepeak.experiment.grid import Run
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.experiment.task import train_task
from onepeak.networks.own_backbone import source_digest
from onepeak.training.devices import make_fabric
from onepeak.training.out_folder import RESULT
from onepeak.training.run import CHECKPOINT, versions

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
"""Fetches the pixels of the store, see `onepeak.data.images.store.transfer.pieces_of`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Shipment:
    """What is sent once to every machine: the whole experiment except its decoded images."""

    prepared_experiment: bytes
    """Without its store and weights; pickled, because arrays in a cluster's memory are read-only."""
    store_folder: Path | None
    """The folder of the images on the sending machine; another machine may see the same disk."""
    store_index: StoreIndex | None
    weights: tuple[str, bytes] | None
    """Name and content of the file of initial weights."""
    versions: dict[str, str]
    """The library versions on this machine; results would differ with others."""
    backbone_source: str | None
    """A hash of the source file of a user's own backbone, which is not sent."""

    def unpack(self, folder: Path, *, pieces: Pieces | None) -> PreparedExperiment | None:
        """Restores the experiment on the machine where this is called.

        Args:
            folder: Where to put files.
            pieces: How to fetch the images if this machine does not see them.

        Returns:
            The experiment; None if it is incomplete without the pieces.

        Raises:
            InputError: The library versions or the file of the user's own backbone differ on this machine.
        """
        _check_versions(self.versions, versions())
        prepared_experiment: PreparedExperiment = pickle.loads(self.prepared_experiment)
        _check_backbone(prepared_experiment.network.backbone, self.backbone_source)
        if self.store_index is not None:
            store = self._store(pieces)
            if store is None:
                return None
            prepared_experiment = replace(
                prepared_experiment, prepared=replace(prepared_experiment.prepared, store=store)
            )
        if self.weights is not None:
            name, content = self.weights
            (folder / name).write_bytes(content)
            prepared_experiment = replace(
                prepared_experiment, experiment=replace(prepared_experiment.experiment, weights=str(folder / name))
            )
        return prepared_experiment

    def _store(self, pieces: Pieces | None) -> ImageStore | None:
        if self.store_index is None or self.store_folder is None:
            raise TypeError("a table has no images")
        cache_dir = default_cache_dir()
        for folder in (self.store_folder, folder_of_sent(self.store_index, cache_dir)):
            if (store := same_store(folder, self.store_index)) is not None:
                return store
        return None if pieces is None else store_of_pieces(self.store_index, pieces(), cache_dir=cache_dir)


def pack(prepared_experiment: PreparedExperiment) -> Shipment:
    """Packs an experiment for sending."""
    store, weights = prepared_experiment.prepared.store, prepared_experiment.experiment.weights_file
    rest = replace(
        prepared_experiment,
        prepared=replace(prepared_experiment.prepared, store=None),
        experiment=replace(prepared_experiment.experiment, weights=None),
    )
    return Shipment(
        prepared_experiment=pickle.dumps(rest),
        store_folder=None if store is None else store.folder,
        store_index=None if store is None else store.index,
        weights=None if weights is None else (weights.name, weights.read_bytes()),
        versions=versions(),
        backbone_source=source_digest(prepared_experiment.network.backbone),
    )


def _check_backbone(backbone: str, wanted: str | None) -> None:
    try:
        found = source_digest(backbone)
    except InputError as error:
        raise InputError(f"On {socket.gethostname()}: {error}") from error
    if found != wanted:
        raise InputError(
            f"Every machine must have the same source file for the backbone {backbone}, but {socket.gethostname()} has "
            "another: install the same one there and here."
        )


def _check_versions(wanted: dict[str, str], found: dict[str, str]) -> None:
    """CPU and GPU builds of one version count as equal: a laptop may send work to machines with GPUs."""
    differences = [
        f"{name} {found.get(name, 'is missing')} where {version} is needed"
        for name, version in wanted.items()
        if found.get(name, "").partition("+")[0] != version.partition("+")[0]
    ]
    if differences:
        raise InputError(
            f"Every machine must have the same versions, so that results are comparable; {socket.gethostname()} has "
            f"{', '.join(differences)}: install the same versions there and here."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskResult:
    """The return value of a task."""

    outcome: Finished | Failed | Elsewhere
    files: dict[str, bytes]


def train_on_node(
    run: Run, shipment: Shipment, pieces: list[Any] | None, mailbox: Any, *, device: str, threads: int
) -> TaskResult | None:
    """Trains a run from its beginning; nothing remains on the node.

    Args:
        run: The run to train.
        shipment: The experiment.
        pieces: References to the pieces of its images, for a node that does not see them.
        mailbox: The actor that receives every event, see `Mailbox`.
        device: "cpu", or "cuda" for the GPU that Ray assigned to this task.
        threads: How many threads to compute with.

    Returns:
        How it ended, and its files; None if the pieces are needed and were not given.
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
        if path.is_file() and path.name != CHECKPOINT and not path.name.startswith(".")
    }


def write_run_files(files: dict[str, bytes], folder: Path) -> None:
    """Writes the files to the run's folder, the result last: a folder with a result is complete."""
    for name in sorted(files, key=lambda name: name == RESULT):
        write_in_one_step(folder / name, partial(Path.write_bytes, data=files[name]))
    if RESULT in files:
        (folder / CHECKPOINT).unlink(missing_ok=True)  # left by an earlier start elsewhere
