"""Several runs at once in one process on one GPU, each in a lane: a thread with a stream of its own.

A step of a small network leaves most of a large GPU idle. Recorded as graphs and replayed on several streams, the steps
of several runs fill it; processes that share a GPU take turns instead. A run in a lane is the ordinary one and gives
the same bits as alone, since nothing that two runs write is shared. The one thing that a process has only once and a
training might use are torch's random numbers, so networks that draw some keep a process to themselves.
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
from onepeak.training.same_bits import same_bits
from onepeak.training.streams import MOST_STREAMS, lane_stream

if TYPE_CHECKING:
    from lightning.fabric import Fabric

MOST_LANES = 8
"""More runs at once fill even a large GPU no further; on an H200 four do in float32, see results/speed."""

PACKING_GAIN = 1.5
"""How many times as many steps a second runs at once make on one GPU as one recorded run: measured at batch 8 on an
H200, see results/speed. It hardly depends on how many they are; where the steps of one fill the GPU it is less."""

SHARE_OF_MEMORY = 0.8
"""Of what is free, for further runs; the rest is for what they need while they are recorded."""

_BACKWARD = threading.Lock()


@contextlib.contextmanager
def lanes(count: int, device: torch.device) -> Iterator[Executor]:
    """Threads for so many runs at once; left when all that was submitted is done.

    Args:
        count: The most runs at once; no more than `MOST_STREAMS` on a GPU.
        device: Where they are trained.
    """
    count = min(count, MOST_STREAMS) if device.type == "cuda" else count
    numbers = iter(range(count))
    # Some things are the whole process's. Runs switch to algorithms that give the same bits and back; held here, one
    # that ends does so for itself only. What reads a file may silence warnings meanwhile: of two that do so at once one
    # may leave them silent, which is put right at the end and until then costs no more than a line in a log.
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
    """The gradient of a loss, of one lane after another.

    Fabric marks for the whole process that it is within a backward pass: one that ends must not unmark another's. On a
    GPU nothing is lost by that, as autograd has one thread for all passes there.

    Args:
        loss: Of a network that the fabric has set up.
        fabric: Device and precision.
    """
    with _BACKWARD:
        fabric.backward(loss)


def lanes_that_fit(device: torch.device, *, shared: int) -> int:
    """How many runs fit on a GPU, after one of them has run for a while and all of its memory is there.

    Args:
        device: The GPU.
        shared: Bytes of what the runs have in common, the pictures.
    """
    free, _ = torch.cuda.mem_get_info(device)
    of_one = max(1, torch.cuda.max_memory_reserved(device) - shared)
    return min(MOST_LANES, 1 + int(SHARE_OF_MEMORY * free / of_one))


def draws_at_random(network: nn.Module) -> bool:
    """Whether a network draws random numbers in training: dropout of any kind among layers of torch or timm.

    What happens inside a backbone of the user's own is not known, so that it may.

    Example:
        >>> draws_at_random(nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1)))
        True
        >>> draws_at_random(nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.0)))
        False
    """
    return any(_draws(layer) for layer in network.modules())


def _draws(layer: nn.Module) -> bool:
    match layer:
        case nn.RReLU() | OwnBackbone():
            return True
        case nn.MultiheadAttention() | nn.RNNBase():
            return bool(layer.dropout)
        case _:
            shares = ("p", "drop_prob", "prob")  # as torch and timm call them
            return "drop" in type(layer).__name__.lower() and any(getattr(layer, share, 0) for share in shares)
