"""Initial weights that depend only on a seed and on the part of the network."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from onepeak._core.check import check_integer

_DRAWING = threading.RLock()


@contextmanager
def own_random_numbers(device: torch.device | None = None) -> Iterator[None]:
    """Restores the global random state on exit.

    The state belongs to the process, so only one thread at a time may be inside.

    Args:
        device: A GPU whose random state to restore too.
    """
    with _DRAWING, torch.random.fork_rng(devices=[device] if device is not None and device.type == "cuda" else []):
        yield


@contextmanager
def seeded(seed: int | None, part: str) -> Iterator[None]:
    """Seeds torch for the weights of one part, such as "head", and restores the global random state on exit.

    Each part has its own random numbers, so another backbone does not change the head's weights. They are drawn on the
    CPU, so they are the same on every device. Without a seed they come from torch's global random state.
    """
    if seed is None:
        yield
        return
    check_integer("seed", seed, minimum=0)
    digest = hashlib.sha256(f"{seed}/{part}".encode()).digest()
    with own_random_numbers(), torch.device("cpu"):
        # Not torch.manual_seed: it would also seed every GPU, and their states are not restored.
        torch.default_generator.manual_seed(int.from_bytes(digest[:7], "big"))
        yield


def reset_weights(module: nn.Module) -> None:
    """Reinitialises the weights of every layer."""
    for layer in module.modules():
        reset = getattr(layer, "reset_parameters", None)
        if callable(reset):
            reset()
