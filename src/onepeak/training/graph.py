"""Work on a GPU that is recorded once and replayed: a small network's kernels take less time than their launches.

A graph does to the bit what the same calls do eagerly. Nothing in it may ask the device for a number, and every tensor
it reads or writes must stay where it is.
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
"""Threads record in turn: a recording begins by waiting for the whole device, which spoils another's."""


class RecordingError(RuntimeError):
    """Work that cannot be recorded. What is left of the attempt may make the process unfit for more."""


def graphs_are_on(device: torch.device) -> bool:
    """Whether to record: on a CUDA device, unless the environment variable ONEPEAK_GRAPHS is 0."""
    return device.type == "cuda" and os.environ.get("ONEPEAK_GRAPHS", "1") != "0"


class Graph(Generic[Result]):
    """A recording of some work. It must have run once eagerly, so that all that is made on first use exists.

    Args:
        work: Called once, to be recorded; it is not carried out by that. Its result is the same tensors every time,
            overwritten by each replay.
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self.recording = torch.cuda.CUDAGraph()
        # "thread_local": another thread's work does not disturb the recording.
        stream = stream_to_record_on(torch.device("cuda"))
        with _RECORDING, torch.cuda.graph(self.recording, stream=stream, capture_error_mode="thread_local"):
            self.result = work()

    def __call__(self) -> Result:
        """Does the work."""
        self.recording.replay()
        return self.result


def recorded_if_it_fits(work: Callable[[], Result]) -> Graph[Result] | None:
    """A recording, which keeps the memory of all that the work makes on its way; None where the device has too little.

    Args:
        work: As for `Graph`.

    Raises:
        RecordingError: The work is none that can be recorded.
    """
    try:
        return Graph(work)
    except RuntimeError as error:
        if is_out_of_memory(error):
            return None
        raise RecordingError(
            f"A step or the validation cannot be recorded as a CUDA graph ({error}). Does the method or the network "
            "look at a number on the device, as `.item()` or an `if` does? Set the environment variable "
            "ONEPEAK_GRAPHS=0 to train without recordings, slower."
        ) from error
