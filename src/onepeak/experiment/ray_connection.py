"""Connects to a Ray cluster, and counts how many runs it can hold at once."""

import logging
import math
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from onepeak._check import check_number
from onepeak._extras import require
from onepeak.errors import InputError, OnepeakError, first_line

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
    """Joins a cluster for the rest of this process; an earlier connection is kept.

    Args:
        address: "auto" for the cluster on this machine or in RAY_ADDRESS, host:port of its head node, ray://host:port
            of its client server, or "local" to start one on this machine.

    Returns:
        The module `ray`.

    Raises:
        InputError: The address is malformed.
        ClusterError: No cluster responds, or it has another version.
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
        raise InputError(f"`address` must be auto, local, host:port or ray://host:port, got {address!r}.")
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
            raise InputError(f"`gpus_per_run` must be a fraction of one GPU or a whole number, got {self.gpus:g}.")

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
    """Counts how many runs the nodes hold at once, as Ray packs them: a fraction of a GPU is never split over two GPUs.

    Args:
        nodes: The resources of each node.
        share: The resources of a run.

    Example:
        >>> node = {"CPU": 8.0, "GPU": 2.0}
        >>> [places([node], Share(cpus=1.0, gpus=gpus)) for gpus in (0.0, 0.3, 0.5, 2.0)]
        [8, 6, 4, 1]
    """
    return sum(_places_on(node, share) for node in nodes)


def _places_on(node: Mapping[str, float], share: Share) -> int:
    by_cpu, gpus = _times(node.get("CPU", 0.0), share.cpus), node.get("GPU", 0.0)
    if not share.gpus:
        return by_cpu
    return min(by_cpu, int(gpus) * _times(1.0, share.gpus) if share.gpus < 1 else _times(gpus, share.gpus))


def _times(whole: float, part: float) -> int:
    """How many times a part fits into the whole, tolerating rounding: a third fits three times."""
    return math.floor(whole / part + 1e-6)
