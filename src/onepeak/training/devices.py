"""Device and precision: sets up Lightning Fabric."""

import os
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import torch

from onepeak._check import check_choice
from onepeak._extras import require
from onepeak._listing import counted
from onepeak.errors import InputError

if TYPE_CHECKING:
    from lightning.fabric import Fabric

Precision: TypeAlias = Literal["fp32", "bf16", "fp16"]

_MIXED = {"bf16": "bf16-mixed", "fp16": "16-mixed"}


def make_fabric(*, device: str = "auto", precision: Precision = "fp32") -> "Fabric":
    """Sets up the devices of a run. Under `torchrun` or SLURM it joins the other processes, on all nodes.

    Args:
        device: See `find_device`.
        precision: "fp32", or mixed precision "bf16" or "fp16".
    """
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
