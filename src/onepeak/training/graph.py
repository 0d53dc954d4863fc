"""Work on a GPU that is recorded once and replayed: a small network's kernels take less time than their launches.

A graph does to the bit what the same calls do eagerly. Nothing in it may ask the device for a number, and every tensor
it reads or writes must stay where it is.
"""

import os
from collections.abc import Callable
from typing import Generic, TypeVar

import torch

Result = TypeVar("Result")


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
        with torch.cuda.graph(self.recording, capture_error_mode="thread_local"):
            self.result = work()

    def __call__(self) -> Result:
        """Does the work."""
        self.recording.replay()
        return self.result
