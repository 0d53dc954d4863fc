"""Packs an experiment with its data and weights, for machines that do not share a disk with this one."""

import pickle
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from onepeak.data.store import ImageStore, default_cache_dir
from onepeak.data.store.index import StoreIndex
from onepeak.data.store.transfer import folder_of_sent, same_store, store_of_pieces
from onepeak.errors import InputError
from onepeak.experiment.opened import Opened
from onepeak.networks.own_backbone import source_digest
from onepeak.training.run import versions

Pieces: TypeAlias = Callable[[], Iterable[bytes]]
"""Fetches the pixels of the store, see `onepeak.data.store.transfer.pieces_of`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Shipment:
    """What is sent once to every machine: the whole experiment except its decoded images."""

    opened: bytes
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

    def unpack(self, folder: Path, *, pieces: Pieces | None) -> Opened | None:
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
        opened: Opened = pickle.loads(self.opened)
        _check_backbone(opened.network.backbone, self.backbone_source)
        if self.store_index is not None:
            store = self._store(pieces)
            if store is None:
                return None
            opened = replace(opened, prepared=replace(opened.prepared, store=store))
        if self.weights is not None:
            name, content = self.weights
            (folder / name).write_bytes(content)
            opened = replace(opened, experiment=replace(opened.experiment, weights=str(folder / name)))
        return opened

    def _store(self, pieces: Pieces | None) -> ImageStore | None:
        if self.store_index is None or self.store_folder is None:
            raise TypeError("a table has no images")
        cache_dir = default_cache_dir()
        for folder in (self.store_folder, folder_of_sent(self.store_index, cache_dir)):
            if (store := same_store(folder, self.store_index)) is not None:
                return store
        return None if pieces is None else store_of_pieces(self.store_index, pieces(), cache_dir=cache_dir)


def pack(opened: Opened) -> Shipment:
    """Packs an experiment for sending."""
    store, weights = opened.prepared.store, opened.experiment.weights_file
    rest = replace(
        opened,
        prepared=replace(opened.prepared, store=None),
        experiment=replace(opened.experiment, weights=None),
    )
    return Shipment(
        opened=pickle.dumps(rest),
        store_folder=None if store is None else store.folder,
        store_index=None if store is None else store.index,
        weights=None if weights is None else (weights.name, weights.read_bytes()),
        versions=versions(),
        backbone_source=source_digest(opened.network.backbone),
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
