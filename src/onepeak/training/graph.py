"""CUDA graphs: GPU work recorded once and replayed. A small network's kernel launches take longer than its kernels.

A graph gives bit-identical results to the same calls run eagerly. Nothing in it may read a number from the device, and
every tensor that it reads or writes must keep its address.
"""

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import torch

from onepeak.training.memory import is_out_of_memory
from onepeak.training.streams import stream_to_record_on

Result = TypeVar("Result")

_RECORDING = threading.Lock()
"""Threads record in turn: a recording begins with a sync of the whole device, which would break another recording."""


class RecordingError(RuntimeError):
    """Work that cannot be recorded. The failed attempt may leave the process unusable."""


def graphs_are_on(device: torch.device) -> bool:
    """Returns whether to record: on a CUDA device, unless the environment variable ONEPEAK_GRAPHS is 0."""
    return device.type == "cuda" and os.environ.get("ONEPEAK_GRAPHS", "1") != "0"


class Graph(Generic[Result]):
    """A recording of some work. It must have run once eagerly, so that everything made on first use exists.

    Args:
        work: Called once for recording, which does not execute it. Its result is the same tensors every time,
            overwritten by each replay.
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self.recording = torch.cuda.CUDAGraph()
        # "thread_local": another thread's work does not disturb the recording.
        stream = stream_to_record_on(torch.device("cuda"))
        with _RECORDING, torch.cuda.graph(self.recording, stream=stream, capture_error_mode="thread_local"):
            self.result = work()

    def __call__(self) -> Result:
        """Replays the work."""
        self.recording.replay()
        return self.result


def recorded_if_it_fits(work: Callable[[], Result]) -> Graph[Result] | None:
    """Returns a recording, or None if the device has too little memory: a recording keeps all its intermediate tensors.

    Args:
        work: As for `Graph`.

    Raises:
        RecordingError: The work cannot be recorded.
    """
    try:
        return Graph(work)
    except RuntimeError as error:
        if is_out_of_memory(error):
            return None
        raise RecordingError(
            f"A step or the validation cannot be recorded as a CUDA graph ({error}). Does the method or the network "
            "read a number from the device, as `.item()` or an `if` on a tensor does? Set the environment variable "
            "ONEPEAK_GRAPHS=0 to train without graphs, more slowly."
        ) from error
