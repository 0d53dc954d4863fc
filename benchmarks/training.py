"""Our training loop compared with a plain one, and what PN and ELB add to a step of cross-entropy.

Run: python benchmarks/training.py [--device cpu|cuda] [--rounds N] [--workers N]
or:  python benchmarks/training.py --device cuda --out results/paper/step-time.json   (the single steps alone)
Method: generated images, random crops and flips, the same network, data, batch size and optimiser on both sides. The
plain loop is a Dataset of the decoded images, a DataLoader (its workers started before timing), eager forward, backward
and step, in the style of the torch tutorials. After a warm-up, both run in turn, several rounds; the median round is
shown. Steps of cross-entropy, PN and ELB run on one fixed batch of 70 classes, in turn, many short rounds; the
median ratio to the steps of cross-entropy before and after is shown.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

import onepeak
from onepeak.data.images.augment import Augment
from onepeak.data.images.store.build import build_store
from onepeak.data.manifest import ImageArrays, Manifest
from onepeak.data.splits import Split
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.network import Network
from onepeak.training.devices import make_fabric
from onepeak.training.feed import ImageFeed
from onepeak.training.loop import Loop
from onepeak.training.optimizer import make_optimizer
from onepeak.training.recipe import Recipe

CLASSES = 8
AGES = 70
"""Classes of the single steps: FG-NET's."""
LOOPS = {
    "cuda": ((1024, 266, 256, "resnet18", 8), (2048, 266, 256, "resnet18", 64)),
    "cpu": ((512, 72, 64, "small", 32),),
}
"""Images, their side, the crop, the backbone and the batch size."""
STEPS = {"cuda": ((8, 256, 40, 10), (64, 256, 40, 5)), "cpu": ((8, 256, 9, 1),)}
"""Batch size, side of an image, rounds and steps in a round."""


def generated(count: int, side: int) -> Manifest:
    """Images of noise; only their timing matters."""
    rng = np.random.default_rng(0)
    return Manifest(
        name="noise",
        items=ImageArrays(pixels=rng.integers(0, 256, (count, side, side, 3), np.uint8)),
        labels=rng.integers(0, CLASSES, count),
        classes=tuple(f"class{number}" for number in range(CLASSES)),
    )


def make_network(method: str, backbone: str, device: torch.device) -> Network:
    made = onepeak.method(method, num_classes=CLASSES)
    return build_network(made, NetworkSettings(backbone=backbone), seed=0).to(device)


class Images(Dataset[tuple[Tensor, int]]):
    """Decoded images with the usual tutorial transforms."""

    def __init__(self, data: Manifest, crop: int) -> None:
        assert isinstance(data.items, ImageArrays)
        self.images = torch.from_numpy(data.items.pixels).permute(0, 3, 1, 2)
        self.labels = data.labels
        self.transform = v2.Compose(
            [
                v2.RandomCrop(crop),
                v2.RandomHorizontalFlip(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize([0.5] * 3, [0.5] * 3),
            ]
        )

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.transform(self.images[index]), int(self.labels[index])


def plain_epoch(
    data: Manifest, crop: int, recipe: Recipe, backbone: str, device: torch.device, workers: int
) -> Callable[[], object]:
    """Returns an epoch as in the torch tutorials."""
    network = make_network("elb", backbone, device)
    optimizer = make_optimizer(network, recipe)
    loader = DataLoader(
        Images(data, crop),
        batch_size=recipe.batch_size,
        shuffle=True,
        pin_memory=device.type == "cuda",
        num_workers=workers,
        persistent_workers=workers > 0,
    )

    def epoch() -> None:
        network.train()
        for images, labels in loader:
            loss = network.method.loss(
                network(images.to(device, non_blocking=True)), labels.to(device, non_blocking=True)
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return epoch


def our_epoch(data: Manifest, crop: int, recipe: Recipe, backbone: str, device: torch.device) -> Callable[[], object]:
    """Returns an epoch of onepeak's training loop, without validation."""
    assert isinstance(data.items, ImageArrays)
    fabric = make_fabric(device=device.type)
    everything = np.arange(len(data))
    # The parts of a split must be disjoint, and the plain loop trains on all samples: two extra samples are never used.
    split = Split(train=everything, valid=everything[-1:] + 1, test=everything[-1:] + 2, protocol="all")
    feed = ImageFeed(build_store(data.items), Augment(crop=crop), device)
    network = make_network("elb", backbone, device)
    loop = Loop(network, feed, data.labels, split, recipe, fabric=fabric, seed=0, select="mae")

    def epoch() -> None:
        loop.train_epoch()
        loop.is_warm = True  # as after the first epoch: on a GPU steps are recorded from here on

    return epoch


def seconds(work: Callable[[], object], device: torch.device) -> float:
    wait(device)
    start = time.perf_counter()
    work()
    wait(device)
    return time.perf_counter() - start


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def compare_loops(
    count: int, side: int, crop: int, backbone: str, batch_size: int, device: torch.device, rounds: int, workers: int
) -> None:
    data = generated(count, side)
    recipe = Recipe(batch_size=batch_size, optimizer="sgd", lr=1e-4)
    ways = {
        "plain": plain_epoch(data, crop, recipe, backbone, device, workers),
        "onepeak": our_epoch(data, crop, recipe, backbone, device),
    }
    for work in ways.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            taken[name].append(seconds(work, device))
    speed = {name: count / statistics.median(times) for name, times in taken.items()}
    ratio = statistics.median(plain / ours for plain, ours in zip(taken["plain"], taken["onepeak"], strict=True))
    print(
        f"  {backbone:9} {side}x{side}, crop {crop}, batch {batch_size:3}: "
        f"plain {speed['plain']:7.0f} /s, onepeak {speed['onepeak']:7.0f} /s, {ratio:5.2f} x"
    )


def step_of(method: str, batch_size: int, side: int, device: torch.device) -> Callable[[], object]:
    """Returns a step on one fixed batch."""
    made = onepeak.method(method, num_classes=AGES)
    network = build_network(made, NetworkSettings(backbone="resnet18"), seed=0).to(device).train()
    optimizer = make_optimizer(network, replace(Recipe(), optimizer="sgd", lr=1e-6))
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(batch_size, 3, side, side, generator=generator).to(device)
    labels = torch.randint(AGES, (batch_size,), generator=generator).to(device)

    def step() -> None:
        loss = network.method.loss(network(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def compare_steps(batch_size: int, side: int, device: torch.device, rounds: int, repeats: int) -> dict[str, Any]:
    """CE, PN, ELB, CE: other load on the machine affects all of them. Returns the record of the comparison."""
    steps = {method: step_of(method, batch_size, side, device) for method in ("ce", "pn", "elb")}

    def several(step: Callable[[], object]) -> float:
        return seconds(lambda: [step() for _ in range(repeats)], device) / repeats

    for step in steps.values():
        several(step)
    times: dict[str, list[float]] = {method: [] for method in steps}
    ratios: dict[str, list[float]] = {"pn": [], "elb": []}
    for _ in range(rounds):
        taken = {method: several(step) for method, step in steps.items()}
        around = (taken["ce"] + several(steps["ce"])) / 2
        for method, each in taken.items():
            times[method].append(each)
        for method, found in ratios.items():
            found.append(taken[method] / around)
    quarters = {method: np.quantile(found, (0.25, 0.5, 0.75)).round(4).tolist() for method, found in ratios.items()}
    milliseconds = {method: round(1e3 * statistics.median(found), 3) for method, found in times.items()}
    for method, (low, middle, high) in quarters.items():
        print(
            f"  resnet18  {side}x{side}, batch {batch_size:3}: {method.upper():3} {milliseconds[method]:7.2f} ms, "
            f"{middle:5.3f} x CE (quarters {low:.3f} to {high:.3f})"
        )
    return {
        "device": torch.cuda.get_device_name()
        if device.type == "cuda"
        else f"{platform.machine()} CPU, {torch.get_num_threads()} thread",
        "torch": torch.__version__,
        "batch_size": batch_size,
        "side": side,
        "num_classes": AGES,
        "rounds": rounds,
        "milliseconds": milliseconds,
        "times_ce": quarters,
    }


def keep(records: list[dict[str, Any]], path: Path) -> None:
    """Adds records to a file, in place of those of the same device and batch."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    by_key = {tuple(each[name] for name in ("device", "batch_size", "side")): each for each in [*known, *records]}
    path.write_text(json.dumps(list(by_key.values()), indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workers", type=int, help="of the plain loop; none on a CPU, where they take its cores")
    parser.add_argument(
        "--out", type=Path, help="only the single steps, added to this file (results/paper/step-time.json)"
    )
    options = parser.parse_args()
    device = torch.device(options.device)
    most = min(8, len(os.sched_getaffinity(0)))
    workers = options.workers if options.workers is not None else most if options.device == "cuda" else 0
    gpu = f", {torch.cuda.get_device_name()}" if options.device == "cuda" else ""
    print(
        f"Python {platform.python_version()}, torch {torch.__version__}, {platform.machine()}, "
        f"{torch.get_num_threads()} threads, device {options.device}{gpu}"
    )
    if options.out is None:
        print(f"\nTraining, images a second (ELB, SGD); the plain loop has {workers} loader workers")
        for loop in LOOPS[options.device]:
            compare_loops(*loop, device, options.rounds, workers)
    print("\nOne step")
    records = [
        compare_steps(batch, side, device, rounds, steps) for batch, side, rounds, steps in STEPS[options.device]
    ]
    if options.out is not None:
        keep(records, options.out)


if __name__ == "__main__":
    main()
