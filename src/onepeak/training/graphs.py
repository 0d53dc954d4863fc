"""CUDA graphs: GPU work recorded once and replayed. A small network's kernel launches take longer than its kernels.

A graph gives bit-identical results to the same calls run eagerly. Nothing in it may read a number from the device, and
every tensor that it reads or writes must keep its address.
"""

import copy
import math
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar, final

import numpy as np
import torch
from torch import Tensor

from onepeak._core.compat import loss_scaler_of
from onepeak.methods.method import Method
from onepeak.networks.network import Network
from onepeak.training.feed import Feed, Indices, on_device
from onepeak.training.recipe import Recipe

if TYPE_CHECKING:
    from lightning.fabric import Fabric

Result = TypeVar("Result")

_RECORDING = threading.Lock()
"""Threads record in turn: a recording begins with a sync of the whole device, which would break another recording."""


class RecordingError(RuntimeError):
    """Work that cannot be recorded. The failed attempt may leave the process unusable."""


def graphs_are_on(device: torch.device) -> bool:
    """Returns whether to record: on a CUDA device, unless the environment variable ONEPEAK_GRAPHS is 0."""
    return device.type == "cuda" and os.environ.get("ONEPEAK_GRAPHS", "1") != "0"


class Graph(Generic[Result]):
    """A recording of some work, whose result is the same tensors every time, overwritten by each replay.

    The work must have run once eagerly, so that everything made on first use exists.
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
    """Returns a recording, or None if the device has too little memory for all its intermediate tensors."""
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


LARGEST_SHARE = 0.1
"""Validation inputs stay on the device up to this share of its free memory; more are read again every epoch."""


@final
class RecordedSteps:
    """Recorded steps. Their samples are columns of a table on the device, the only input that differs between steps."""

    def __init__(self, feed: Feed, labels: Tensor) -> None:
        self.feed, self.labels = feed, labels
        self.columns = labels  # of one step; after recording, the graph's input buffer
        self.graph: Graph[Tensor] | None = None
        self.is_too_large = False
        """Whether the device has too little memory for a recording."""

    def plan(
        self, batches: list[Indices], descend: Callable[[Tensor, Tensor], Tensor], *, seed: int, epoch: int
    ) -> Tensor | None:
        """Returns the inputs of an epoch and its samples, one column each; None if planning or recording fails.

        `descend` takes a step and returns the loss. It is recorded at the first call and not kept: a reference cycle
        would leave the loop and all its graphs to the garbage collector.
        """
        order = np.concatenate(batches)
        inputs = None if self.is_too_large else self.feed.train_plan(order, seed=seed, epoch=epoch)
        if inputs is None:
            return None
        plan = torch.cat([inputs, on_device(order, self.labels.device).unsqueeze(0)])
        if self.graph is None:
            self.columns = plan[:, : len(batches[0])].clone()
            self.graph = recorded_if_it_fits(
                lambda: descend(self.feed.planned_inputs(self.columns[:-1]), self.labels[self.columns[-1]])
            )
            self.is_too_large = self.graph is None
        return None if self.is_too_large else plan

    def fits(self, batch: Indices) -> bool:
        """Returns whether the recorded step has this batch size."""
        return len(batch) == self.columns.shape[-1]

    def step(self, columns: Tensor) -> Tensor:
        """Takes a step on these columns of the plan; the next step overwrites the returned loss."""
        if self.graph is None:
            raise TypeError("a step without a plan")
        self.columns.copy_(columns)
        return self.graph()


@final
class RecordedAnswers:
    """The recorded outputs of a network for the same samples in every epoch."""

    def __init__(
        self, network: Network, feed: Feed, indices: Indices, labels: Tensor, *, fabric: "Fabric", batch_size: int
    ) -> None:
        self.network, self.fabric = network, fabric
        self.inputs: list[Tensor] = []
        self.labels: list[Tensor] = []
        self.fits = True
        self.graph: Graph[list[Tensor]] | None = None
        on_gpu = labels.device.type == "cuda"
        room = LARGEST_SHARE * torch.cuda.mem_get_info(labels.device)[0] if on_gpu else math.inf
        for places, inputs in feed.evaluation_inputs(indices, batch_size=batch_size):
            room -= inputs.nbytes
            if room < 0:
                self.fits, self.inputs = False, []
                return
            self.inputs.append(inputs)
            self.labels.append(labels[on_device(indices[places.numpy()], labels.device)])
        self.graph = recorded_if_it_fits(self._ask)
        self.fits = self.graph is not None

    def __call__(self) -> list[tuple[Tensor, Tensor]]:
        """Returns the outputs and labels of every batch."""
        if self.graph is None:
            raise TypeError("outputs that were not recorded")
        self.network.eval()  # a replay repeats only device work, and a loss may check the mode
        return list(zip(self.graph(), self.labels, strict=True))

    @torch.no_grad()
    def _ask(self) -> list[Tensor]:
        self.network.eval()
        with self.fabric.autocast():
            return [self.network(inputs) for inputs in self.inputs]


def can_be_recorded(method: Method, recipe: Recipe, *, fabric: "Fabric") -> bool:
    """Returns whether training steps can be recorded: nothing in them may read a number from the device."""
    return (
        graphs_are_on(fabric.device)
        and fabric.world_size == 1
        and loss_scaler_of(fabric) is None  # it reads the gradients
        and recipe.clip_norm is None  # clipping reads their norm
        and asks_for_no_number(method)
    )


def asks_for_no_number(method: Method) -> bool:
    """Returns whether a method's loss never reads a number from the device: no `.item()`, no `if` on a tensor.

    The loss is computed on torch's "meta" device, whose tensors have shapes but no values. A custom method that fails
    there for another reason counts as one that reads numbers.
    """
    try:
        there = copy.deepcopy(method).to("meta")
        outputs = torch.empty(4, method.num_outputs, device="meta", requires_grad=True)
        labels = torch.empty(4, dtype=torch.int64, device="meta")
        there.loss(outputs, labels, reduction="mean").backward()
        if there.asks_features:
            there.feature_loss(torch.empty(4, 8, device="meta", requires_grad=True), labels).backward()
    except Exception:  # a custom method may raise anything
        return False
    return True


_IN_ALL = 32
"""Number of streams that torch has per device."""

MOST_STREAMS = _IN_ALL - 1
"""Most streams for lanes; one is reserved for recordings outside of lanes."""

_KEPT: dict[int, list[torch.cuda.Stream]] = {}
"""Streams by device number; the first is for recordings outside of lanes."""
_KEEPING = threading.Lock()


def lane_stream(device: torch.device, lane: int) -> torch.cuda.Stream:
    """Returns the stream of a lane."""
    return _kept(device, 1 + lane)


def stream_to_record_on(device: torch.device) -> torch.cuda.Stream:
    """Returns this thread's stream if it is not the default one, which cannot be recorded; otherwise a reserved one.

    A recording refers to working memory that the libraries keep per stream, so two recordings of one stream must not be
    replayed at once.
    """
    current = torch.cuda.current_stream(device)
    return _kept(device, 0) if current == torch.cuda.default_stream(device) else current


def _kept(device: torch.device, number: int) -> torch.cuda.Stream:
    index = torch.cuda.current_device() if device.index is None else device.index
    with _KEEPING:
        streams = _KEPT.setdefault(index, [])
        while len(streams) <= number:
            streams.append(_one_more(torch.device("cuda", index), streams))
        return streams[number]


def _one_more(device: torch.device, others: list[torch.cuda.Stream]) -> torch.cuda.Stream:
    """Returns a stream that is not among the others; torch hands one out within a full turn."""
    taken = {stream.cuda_stream for stream in others}
    given = (torch.cuda.Stream(device) for _ in range(_IN_ALL))
    return next(stream for stream in given if stream.cuda_stream not in taken)


_WORDS = ("out of memory", "ALLOC_FAILED", "allocate memory")
"""From messages of CUDA, its libraries and the CPU, whose errors have no class of their own."""


def is_out_of_memory(error: BaseException) -> bool:
    """Returns whether an error means too little memory, on the device or on the host."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _WORDS)
