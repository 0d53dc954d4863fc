"""Trains runs on a Ray cluster, whose machines need not share a disk with this one."""

from collections.abc import Sequence
from pathlib import Path

from onepeak._check import check_choice, check_integer
from onepeak._listing import counted
from onepeak.errors import InputError
from onepeak.experiment.events import Report
from onepeak.experiment.grid import Run
from onepeak.experiment.opened import Opened
from onepeak.experiment.ray_connection import Share, connect, places, resources
from onepeak.experiment.ray_fleet import Fleet


class RayExecutor:
    """Trains every run as a task of a Ray cluster and fetches its files when it ends.

    Nodes need the same library versions. Data and weights are sent to them, and so are images if a node does not see
    the folder of decoded images under the same path. A run whose process or node is lost starts again on another one,
    with bit-identical results. Runs are claimed on this machine, so that several comparisons can share one folder.

    Args:
        address: The cluster's address, see `onepeak.experiment.ray_connection.connect`.
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
            raise InputError(f"`gpus_per_run` must be 0 on a CPU and above 0 on a GPU, got {share.gpus:g} on {device}.")
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

    def run(self, runs: Sequence[Run], opened: Opened, folder: Path, *, report: Report) -> None:
        """Trains all runs; see `Executor`."""
        fleet = Fleet(self, opened, folder, report=report)
        try:
            fleet.train(runs)
        finally:
            fleet.stop()

    def most(self) -> int:
        """How many runs to submit: one per place now, plus one to wait for the next free place."""
        return self._asked or places(resources(self.ray), self.share) + 1
