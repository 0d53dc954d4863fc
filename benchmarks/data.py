"""The image store compared with the usual tools: a PIL loop to build, ImageFolder + DataLoader to read.

Run: python benchmarks/data.py [--images N] [--workers N] [--batch-size N] [--device cpu|cuda]
Method: writes its own JPEG files, in the sizes of FG-NET, to a temporary folder. Every variant produces the same: short
side 266; then float32 batches of random 256-pixel crops, flipped at random, in [-1, 1]. The variants of a table run in
turn, several rounds; the best round of each is shown. The DataLoader's workers are started before timing.
"""

import argparse
import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision.transforms import v2

from onepeak.data.images.augment import Augment, shuffled
from onepeak.data.images.batches import evaluation_batches, train_batch
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.build import build_store
from onepeak.data.images.store.images import ImageStore
from onepeak.data.manifest import ImageFiles
from onepeak.networks.inputs import normalise

SIDE, CROP, CLASSES = 266, 256, 5
RECIPE = Resize(short_side=SIDE)


def write_images(root: Path, count: int) -> ImageFiles:
    """Writes smooth random images, as JPEGs of varying size in one folder per class."""
    rng = np.random.default_rng(0)
    paths = []
    for number in range(count):
        height, width = int(rng.integers(359, 773)), int(rng.integers(300, 640))
        coarse = rng.integers(0, 256, (height // 16, width // 16, 3), np.uint8)
        path = Path(f"{number % CLASSES}") / f"{number}.jpg"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC).save(root / path, quality=90)
        paths.append(path.as_posix())
    return ImageFiles(root=root, paths=tuple(paths))


def plain_loop(items: ImageFiles, target: Path) -> None:
    """Builds the store the simple way: one file after the other, into one file."""
    with target.open("wb") as file:
        for path in items.paths:
            image = Image.open(items.root / path).convert("RGB")
            height, width = RECIPE.size_of(image.height, image.width)
            file.write(np.asarray(image.resize((width, height), Image.Resampling.BILINEAR)).tobytes())
        file.flush()
        os.fsync(file.fileno())


def loader(items: ImageFiles, batch_size: int, workers: int) -> DataLoader[tuple[torch.Tensor, int]]:
    """The usual way to read images for training."""
    transform = v2.Compose(
        [
            v2.Resize(SIDE),
            v2.RandomCrop(CROP),
            v2.RandomHorizontalFlip(),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize([0.5] * 3, [0.5] * 3),
        ]
    )
    return DataLoader(
        datasets.ImageFolder(str(items.root), transform),
        batch_size=batch_size,
        shuffle=True,
        num_workers=workers,
        persistent_workers=workers > 0,
    )


def from_loader(batches: DataLoader[tuple[torch.Tensor, int]], device: str) -> Iterator[torch.Tensor]:
    return (images.to(device, non_blocking=True) for images, _ in batches)


def from_store(store: ImageStore, batch_size: int, epoch: int, device: str) -> Iterator[torch.Tensor]:
    order = shuffled(store.kept, seed=0, epoch=epoch)
    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        yield normalise(train_batch(store, batch, Augment(crop=CROP), seed=0, epoch=epoch, device=device))


def whole_images(store: ImageStore, batch_size: int, device: str) -> Iterator[torch.Tensor]:
    batches = evaluation_batches(store, range(len(store)), batch_size=batch_size, device=device)
    return (normalise(batch) for _, batch in batches)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start


def consumed(batches: Iterator[torch.Tensor]) -> int:
    return sum(len(batch) for batch in batches)


def best_of(rounds: int, ways: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Returns the best time of each variant, run in turn."""
    taken = {name: float("inf") for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            taken[name] = min(taken[name], seconds(work))
    return taken


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def show(title: str, taken: dict[str, float], count: int, *, slowest: str) -> None:
    print(f"\n{title}")
    for name, time_taken in taken.items():
        print(f"  {name:42} {time_taken:7.3f} s {count / time_taken:9.0f} /s {taken[slowest] / time_taken:7.2f} x")


def build_times(items: ImageFiles, folder: Path, workers: int) -> dict[str, float]:
    """Times the plain loop, and the store with 1, 2, 4, ... workers, each with a new cache."""

    def build(number: int) -> None:
        with tempfile.TemporaryDirectory(dir=folder) as cache:
            build_store(items, RECIPE, cache_dir=Path(cache), workers=number, progress=False)

    counts = sorted({2**power for power in range(workers.bit_length())} | {workers})
    ways: dict[str, Callable[[], object]] = {"plain PIL loop": lambda: plain_loop(items, folder / "plain.bin")}
    ways |= {f"build_store, workers={number}": lambda number=number: build(number) for number in counts}  # type: ignore[misc]
    return best_of(2, ways)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=800)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    count, batch_size, device = options.images, options.batch_size, options.device
    print(
        f"Python {platform.python_version()}, torch {torch.__version__}, {platform.machine()}, "
        f"{options.workers} cores, device {device}, {count} images, batch size {batch_size}"
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        items = write_images(folder / "pictures", count)
        started = peak_mib()
        times = build_times(items, folder, options.workers)
        show("Building: decode, resize to short side 266, write", times, count, slowest="plain PIL loop")

        store = build_store(items, RECIPE, cache_dir=folder / "cache", progress=False)
        opening = seconds(lambda: build_store(items, RECIPE, cache_dir=folder / "cache", progress=False))
        print(f"  {'the same again: found and opened':42} {opening:7.3f} s")
        built = peak_mib()
        ready = store.to(device)
        batches = loader(items, batch_size, options.workers)
        consumed(from_loader(batches, device))  # starts the workers
        name = f"ImageFolder + DataLoader, workers={options.workers}"
        ways = {
            name: lambda: consumed(from_loader(batches, device)),
            "store, no workers": lambda: consumed(from_store(ready, batch_size, 1, device)),
            "store, whole images for evaluation": lambda: consumed(whole_images(ready, batch_size, device)),
        }
        show("One epoch of float32 batches", best_of(3, ways), count, slowest=name)

        print("\nMemory")
        print(f"  {'store on disk, shared by all processes':42} {store.num_bytes / 2**20:7.0f} MiB")
        print(f"  {'more in this process while building':42} {built - started:7.0f} MiB")
        print(f"  {'more in this process while reading':42} {peak_mib() - built:7.0f} MiB, mapped pages included")


if __name__ == "__main__":
    main()
