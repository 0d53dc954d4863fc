"""Device and precision: sets up Lightning Fabric."""

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import torch
from torch.utils import deterministic

from onepeak._core.check import check_choice
from onepeak._core.imports import require
from onepeak._core.wording import counted
from onepeak.errors import InputError

if TYPE_CHECKING:
    from lightning.fabric import Fabric

Precision: TypeAlias = Literal["fp32", "bf16", "fp16"]

_MIXED = {"bf16": "bf16-mixed", "fp16": "16-mixed"}


def make_fabric(*, device: str = "auto", precision: Precision = "fp32") -> "Fabric":
    """Sets up the devices of a run. Under `torchrun` or SLURM it joins the other processes, on all nodes."""
    check_choice("precision", precision, get_args(Precision))
    place = find_device(device)
    if precision == "fp16" and place.type == "cpu":
        raise InputError("`precision` must be fp32 or bf16 on a CPU, got 'fp16'.")
    fabric_module = require("lightning.fabric", extra="train", purpose="Training")
    mixed = _MIXED.get(precision)  # passed by name, Fabric would print a message on stderr
    fabric: Fabric = fabric_module.Fabric(
        accelerator=place.type,
        devices=max(1, _num_processes() // _num_nodes()) if place.index is None else [place.index],
        num_nodes=_num_nodes(),
        strategy="ddp" if _num_processes() > 1 else "auto",
        plugins=None if mixed is None else fabric_module.plugins.MixedPrecision(mixed, device=place.type),
    )
    if _num_processes() > 1:
        fabric.launch()
    return fabric


def find_device(name: str) -> torch.device:
    """Returns the named device, if this machine has it.

    Args:
        name: "cpu", "cuda" (or "gpu"), "cuda:1", "mps", or "auto" for a GPU if there is one.

    Example:
        >>> find_device("cpu")
        device(type='cpu')
    """
    kind, colon, number = name.partition(":")
    kind = "cuda" if kind == "gpu" else kind
    check_choice("device", kind, ("auto", "cpu", "cuda", "mps"))
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if colon and (kind != "cuda" or not number.isdecimal() or int(number) >= gpus):
        found = counted(gpus, "CUDA GPU")
        raise InputError(f"`device` must be available, got {name!r} on a machine with {found}.", page="scale")
    match kind:
        case "cuda" if not gpus:
            raise InputError(
                f"`device` must be available, got {name!r} on a machine without a CUDA GPU: use cpu.",
                page="scale",
            )
        case "mps" if not torch.backends.mps.is_available():
            raise InputError("`device` must be available, got 'mps' on a machine without it: use cpu.")
        case "auto" if gpus:
            return torch.device("cuda")
        case "auto":
            return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    return torch.device(kind + colon + number)


def _num_processes() -> int:
    """Returns how many processes `torchrun` or SLURM's `srun` has started for this run."""
    if "WORLD_SIZE" in os.environ:
        return int(os.environ["WORLD_SIZE"])
    started_by_srun = "SLURM_PROCID" in os.environ and os.environ.get("SLURM_JOB_NAME") not in ("bash", "interactive")
    return int(os.environ.get("SLURM_NTASKS", "1")) if started_by_srun else 1


def _num_nodes() -> int:
    if "LOCAL_WORLD_SIZE" in os.environ:
        return max(1, _num_processes() // int(os.environ["LOCAL_WORLD_SIZE"]))
    return int(os.environ.get("SLURM_NNODES", "1")) if _num_processes() > 1 else 1


@contextlib.contextmanager
def same_bits(*, compiled: bool = True) -> Iterator[None]:
    """Inside, the same seed gives the same bits on the same device: slower algorithms replace nondeterministic ones.

    Several threads may be inside at once: the last one to leave restores what the first one changed. Code inside may
    be compiled if `compiled`; that imports torch's compiler, as training does anyway, which takes more than a second.
    """
    _SWITCHES.enter(compiled=compiled)
    try:
        yield
    finally:
        _SWITCHES.leave()


class _Switches:
    """Torch's switches, and the number of threads inside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._compiled = False

    def enter(self, *, compiled: bool) -> None:
        with self._lock:
            if self._within == 0:
                self._mode = torch.get_deterministic_debug_mode()
                self._benchmark = torch.backends.cudnn.benchmark
                self._fill = deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
                self._compiled = False
            self._within += 1
            self._compiled |= compiled
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            self._set(mode=1, benchmark=False, fill=False)  # filling costs a kernel launch per tensor

    def leave(self) -> None:
        with self._lock:
            self._within -= 1
            if self._within == 0:
                self._set(mode=self._mode, benchmark=self._benchmark, fill=self._fill)

    def _set(self, *, mode: int, benchmark: bool, fill: bool) -> None:
        if self._compiled:
            torch.use_deterministic_algorithms(mode > 0, warn_only=mode == 1)
        else:
            torch.set_deterministic_debug_mode(mode)
        torch.backends.cudnn.benchmark = benchmark
        deterministic.fill_uninitialized_memory = fill  # type: ignore[attr-defined]


_SWITCHES = _Switches()
