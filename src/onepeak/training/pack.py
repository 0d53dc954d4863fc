"""Several runs at once in one process on one GPU, each in a lane: a thread with its own CUDA stream.

A step of a small network leaves most of a large GPU idle. Recorded as graphs and replayed on several streams, the steps
of several runs fill it; processes that share a GPU take turns instead. A run in a lane gives the same bits as a run
alone, because two runs share nothing that they write. The exception is torch's random state, which a process has only
once, so a network that draws random numbers gets a process to itself.
"""

import contextlib
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from onepeak.networks.own_backbone import OwnBackbone
from onepeak.training.devices import same_bits
from onepeak.training.graphs import MOST_STREAMS, lane_stream

if TYPE_CHECKING:
    from lightning.fabric import Fabric

MOST_LANES = 8
"""More runs at once do not fill even a large GPU further; on an H200 four are enough in float32, see results/speed."""

PACKING_GAIN = 1.5
"""Steps per second of concurrent runs on one GPU, relative to one recorded run: measured at batch 8 on an H200, see
results/speed. It hardly depends on the number of runs; it is lower if the steps of one run fill the GPU."""

SHARE_OF_MEMORY = 0.8
"""Share of free memory for further runs; the rest is for what they need during recording."""

_BACKWARD = threading.Lock()


@contextlib.contextmanager
def lanes(count: int, device: torch.device) -> Iterator[Executor]:
    """Opens an executor with one thread per lane; the context exits when all submitted runs are done."""
    count = min(count, MOST_STREAMS) if device.type == "cuda" else count
    numbers = iter(range(count))
    # Some state belongs to the whole process. Runs switch deterministic algorithms on and off; entered here, they stay
    # on when one run ends. Code that reads a file may silence warnings: if two threads do so at once, they can stay
    # silent. That is restored on exit, and until then costs at most a line in a log.
    with (
        same_bits(),
        warnings.catch_warnings(),
        ThreadPoolExecutor(count, "lane", initializer=_enter_lane, initargs=(device, numbers)) as pool,
    ):
        yield pool


def _enter_lane(device: torch.device, numbers: Iterator[int]) -> None:
    if device.type == "cuda":
        if device.index is not None:
            torch.cuda.set_device(device)
        torch.cuda.set_stream(lane_stream(device, next(numbers)))


def backward(loss: Tensor, *, fabric: "Fabric") -> None:
    """Computes the gradient of a loss, one lane at a time.

    Fabric marks a backward pass for the whole process, and a pass that ends must not remove the mark of another. On a
    GPU this costs nothing, because autograd has one thread per device for all passes.
    """
    with _BACKWARD:
        fabric.backward(loss)


def lanes_that_fit(device: torch.device, *, shared: int) -> int:
    """Returns how many runs fit on a GPU, once one of them has run long enough to allocate all of its memory."""
    free, _ = torch.cuda.mem_get_info(device)
    of_one = max(1, torch.cuda.max_memory_reserved(device) - shared)
    return min(MOST_LANES, 1 + int(SHARE_OF_MEMORY * free / of_one))


def draws_at_random(network: nn.Module) -> bool:
    """Returns whether a network draws random numbers in training: any kind of dropout in torch or timm.

    The user's own backbone cannot be inspected, so it counts as one that does.
    """
    return any(_draws(layer) for layer in network.modules())


def _draws(layer: nn.Module) -> bool:
    match layer:
        case nn.RReLU() | OwnBackbone():
            return True
        case nn.MultiheadAttention() | nn.RNNBase():
            return bool(layer.dropout)
        case _:
            shares = ("p", "drop_prob", "prob")  # their names in torch and timm
            return "drop" in type(layer).__name__.lower() and any(getattr(layer, share, 0) for share in shares)
