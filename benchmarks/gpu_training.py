"""Many runs on one GPU: eager one after another, recorded as CUDA graphs, and packed; steps per second.

Run: python benchmarks/gpu_training.py [--epochs N] [--lanes 1,4,8] [--protocols FG-NET,AFAD] [--precisions fp32,bf16]
Method: images of noise in the sizes of FG-NET (266 pixels wide, 260 to 337 high, crops of 256) on the device, 645 for
training and 160 for validation after every epoch, 70 classes, ResNet-18 with WILDCAT pooling, the paper's seven methods
in turn. Every run first trains two epochs, in which kernels are tuned and steps are recorded; then all start together,
and timing ends with the last. Eager is the same loop without recordings, one run alone: its data is on the device, and
nothing is read back within an epoch. Validation's share is the time saved by the same epochs without it. AFAD's
protocol is the same with batches of 64, 26 classes, 1,920 and 480 images. Ratios are to the eager loop in the same
precision.
"""

import argparse
import os
import platform
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

import onepeak
from onepeak.data.images.augment import Augment
from onepeak.data.images.store.build import build_store
from onepeak.data.images.store.images import ImageStore
from onepeak.data.manifest import ImageArrays
from onepeak.data.splits import Split
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.training.devices import Precision, make_fabric, same_bits
from onepeak.training.feed import ImageFeed
from onepeak.training.loop import Loop
from onepeak.training.pack import lanes
from onepeak.training.recipe import Recipe

METHODS = ("ce", "ren", "ld", "mv", "po", "pn", "elb")


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """What is trained, and on what."""

    name: str
    batch_size: int
    num_classes: int
    num_train: int
    num_valid: int
    precision: Precision = "fp32"


PROTOCOLS = (
    Protocol(name="FG-NET", batch_size=8, num_classes=70, num_train=645, num_valid=160),
    Protocol(name="AFAD", batch_size=64, num_classes=26, num_train=1920, num_valid=480),
)


def images(protocol: Protocol, folder: Path) -> ImageStore:
    """Noise in FG-NET's sizes: a store of the largest size, whose index then lists smaller ones."""
    rng = np.random.default_rng(0)
    count = protocol.num_train + protocol.num_valid
    store = build_store(ImageArrays(pixels=rng.integers(0, 256, (count, 337, 266, 3), np.uint8)), cache_dir=folder)
    heights = np.clip(rng.normal(325, 14, count).round(), 260, 337).astype(np.int64)
    sizes = np.stack([heights, np.full(count, 266)], axis=1)
    return _Resized(store, sizes)


class _Resized(ImageStore):
    """A store whose index lists smaller images than it holds."""

    def __init__(self, store: ImageStore, sizes: npt.NDArray[np.int64]) -> None:
        super().__init__(store.folder, store.index, store.pixels)
        self._sizes = sizes
        self.offsets = store.offsets

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        return self._sizes

    def _copied(self, device: torch.device) -> ImageStore:
        return _Resized(super()._copied(device), self._sizes)


def make_loop(protocol: Protocol, store: ImageStore, number: int, *, validates: bool = True) -> Loop:
    """Returns a run after its first two epochs."""
    fabric = make_fabric(device="cuda", precision=protocol.precision)
    everything = np.arange(len(store))
    train, valid = everything[: protocol.num_train], everything[protocol.num_train :]
    if not validates:
        valid = valid[:1]
    split = Split(train=train, valid=valid, test=everything[-1:] + 1, protocol="benchmark")
    labels = np.random.default_rng(1).integers(0, protocol.num_classes, len(store) + 1)
    method = onepeak.method(METHODS[number % len(METHODS)], num_classes=protocol.num_classes)
    network = build_network(method, NetworkSettings(backbone="resnet18"), seed=number).to(fabric.device)
    recipe = Recipe(batch_size=protocol.batch_size, optimizer="sgd", lr=1e-4, evaluation_batch_size=64)
    feed = ImageFeed(store, Augment(crop=256), fabric.device)
    loop = Loop(network, feed, labels, split, recipe, fabric=fabric, seed=number, select="mae", alone=False)
    for _ in range(2):
        loop.run_epoch()
    torch.cuda.current_stream().synchronize()
    return loop


def steps_a_second(protocol: Protocol, store: ImageStore, count: int, epochs: int, *, validates: bool = True) -> float:
    """Steps per second of that many runs at once."""
    together = threading.Barrier(count + 1)

    def run(number: int) -> None:
        loop = make_loop(protocol, store, number, validates=validates)
        together.wait()
        for _ in range(epochs):
            loop.run_epoch()
        torch.cuda.current_stream().synchronize()
        together.wait()

    with lanes(count, torch.device("cuda")) as pool:
        runs: list[Future[None]] = [pool.submit(run, number) for number in range(count)]
        for each in runs:
            each.add_done_callback(lambda done: together.abort() if done.exception() else None)
        start = _meet(together, runs)
        seconds = _meet(together, runs) - start
    batches = -(-protocol.num_train // protocol.batch_size)
    return count * epochs * batches / seconds


def _meet(together: threading.Barrier, runs: list[Future[None]]) -> float:
    try:
        together.wait()
    except threading.BrokenBarrierError:
        for each in runs:
            if (error := each.exception()) is not None and not isinstance(error, threading.BrokenBarrierError):
                raise error from None
        raise
    return time.perf_counter()


def eagerly(work: Callable[[], float]) -> float:
    os.environ["ONEPEAK_GRAPHS"] = "0"
    try:
        return work()
    finally:
        del os.environ["ONEPEAK_GRAPHS"]


def compare_ways(protocol: Protocol, store: ImageStore, counts: list[int], epochs: int) -> None:
    eager = eagerly(lambda: steps_a_second(protocol, store, 1, max(2, epochs // 4)))
    print(
        f"\n{protocol.name}: batch {protocol.batch_size}, crop 256, {protocol.precision}, validated after every epoch"
    )
    print(f"  eager, one after another     {eager:7.1f} steps/s   1.00 x")
    for count in counts:
        speed = steps_a_second(protocol, store, count, epochs)
        without = steps_a_second(protocol, store, count, epochs, validates=False)
        memory = torch.cuda.max_memory_reserved() / 2**30
        print(
            f"  recorded, {count:2} at once         {speed:7.1f} steps/s  {speed / eager:5.2f} x   "
            f"validation {1 - speed / without:4.0%} of the time, {memory:.0f} GiB so far",
            flush=True,
        )
        torch.cuda.empty_cache()
    again = eagerly(lambda: steps_a_second(protocol, store, 1, max(2, epochs // 4)))
    print(f"  eager once more              {again:7.1f} steps/s  {again / eager:5.2f} x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lanes", default="1,4,8")
    parser.add_argument("--protocols", default="FG-NET,AFAD")
    parser.add_argument("--precisions", default="fp32,bf16")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, torch {torch.__version__}, {torch.cuda.get_device_name()}")
    counts = [int(count) for count in options.lanes.split(",")]
    for protocol in PROTOCOLS:
        if protocol.name in options.protocols.split(","):
            with same_bits(), tempfile.TemporaryDirectory() as folder:
                store = images(protocol, Path(folder))
                for precision in options.precisions.split(","):
                    compare_ways(replace(protocol, precision=precision), store, counts, options.epochs)


if __name__ == "__main__":
    main()
