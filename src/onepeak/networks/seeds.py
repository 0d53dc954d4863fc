"""First weights that depend on a seed and on the part they are for, and on nothing else."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from onepeak._check import check_integer

_DRAWING = threading.RLock()


@contextmanager
def own_random_numbers(device: torch.device | None = None) -> Iterator[None]:
    """Whatever is seeded and drawn inside, the random numbers outside go on as if nothing had been drawn.

    They are the process's: one thread at a time may be inside.

    Args:
        device: A GPU whose numbers are drawn too.
    """
    with _DRAWING, torch.random.fork_rng(devices=[device] if device is not None and device.type == "cuda" else []):
        yield


@contextmanager
def seeded(seed: int | None, part: str) -> Iterator[None]:
    """Weights made inside are those of this seed and part; random numbers outside go on as if nothing had been drawn.

    A part has numbers of its own, so another backbone does not change the head's weights. Drawn on the CPU: the same
    on every device.

    Args:
        seed: Not negative; without one the global random numbers are used, as torch does.
        part: What is made, such as "head".

    Example:
        >>> with seeded(0, "head"):
        ...     first = torch.rand(1)
        >>> with seeded(0, "head"):
        ...     print(torch.rand(1) == first)
        tensor([True])
    """
    if seed is None:
        yield
        return
    check_integer("seed", seed, minimum=0)
    digest = hashlib.sha256(f"{seed}/{part}".encode()).digest()
    with own_random_numbers(), torch.device("cpu"):
        # Not torch.manual_seed, which would seed every GPU too, and those are not put back.
        torch.default_generator.manual_seed(int.from_bytes(digest[:7], "big"))
        yield


def reset_weights(module: nn.Module) -> None:
    """Draws the weights of every layer inside anew."""
    for layer in module.modules():
        reset = getattr(layer, "reset_parameters", None)
        if callable(reset):
            reset()
