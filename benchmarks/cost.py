"""The cost of ELB as classes and batch size grow, compared with cross-entropy: a table, growth rates, and a plot.

Run: python benchmarks/cost.py [--device cpu|cuda] [--out results/speed/cost-cpu.png, cost-cuda.png]
Method: forward + backward of float32 scores; for every size both losses in turn, many rounds, the median. The growth is
the slope of log time over log size between the last two sizes, four times apart: 1 is linear. Below some size the
overhead of a call dominates. On a GPU that would hide everything else, so there the steps are recorded as a CUDA graph,
as in the training loop, and sizes go further.
"""

import argparse
import math
import platform
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn import functional as F

import onepeak

STEPS_IN_A_GRAPH = 16
Line = dict[str, list[float]]


def seconds(batch: int, classes: int, device: torch.device, rounds: int) -> dict[str, float]:
    """Median time of one step of each loss."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(batch, classes, generator=generator).to(device).requires_grad_()
    labels = torch.randint(classes, (batch,), generator=generator).to(device)
    losses: dict[str, Callable[..., Tensor]] = {
        "cross-entropy": F.cross_entropy,
        "ELB": onepeak.ELBLoss(classes).to(device),
    }
    ways = {name: _way(loss, scores, labels) for name, loss in losses.items()}
    taken: dict[str, list[float]] = {name: [] for name in losses}
    for step in range(rounds + 3):
        for name, (work, steps) in ways.items():
            _wait(device)
            start = time.perf_counter()
            work()
            _wait(device)
            if step >= 3:
                taken[name].append((time.perf_counter() - start) / steps)
    return {name: median(times) for name, times in taken.items()}


def _way(loss: Callable[..., Tensor], scores: Tensor, labels: Tensor) -> tuple[Callable[[], object], int]:
    """Returns a function that does some steps, and how many."""

    def step() -> object:
        return torch.autograd.grad(loss(scores, labels), scores)

    if not scores.is_cuda:
        return step, 1
    for _ in range(3):
        step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(STEPS_IN_A_GRAPH):
            step()
    return graph.replay, STEPS_IN_A_GRAPH


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def measure(sizes: list[tuple[int, int]], device: torch.device) -> Line:
    lines: Line = {}
    for batch, classes in sizes:
        rounds = max(5, min(200, 20_000_000 // (batch * classes)))
        for name, taken in seconds(batch, classes, device, rounds).items():
            lines.setdefault(name, []).append(taken)
    return lines


def show(title: str, sizes: list[int], lines: Line) -> None:
    print(f"\n{title}, microseconds")
    print("  " + "".join(f"{size:>10,}" for size in sizes) + "    growth")
    for name, taken in lines.items():
        growth = math.log(taken[-1] / taken[-2]) / math.log(sizes[-1] / sizes[-2])
        print("  " + "".join(f"{1e6 * each:>10.0f}" for each in taken) + f"    {growth:.2f}  {name}")


def draw(axes: Axes, sizes: list[int], lines: Line, label: str) -> None:
    for (name, taken), marker in zip(lines.items(), "os", strict=True):
        axes.loglog(sizes, [1e3 * each for each in taken], marker=marker, label=name)
    last = 1e3 * lines["ELB"][-1]
    axes.loglog(sizes, [last * size / sizes[-1] for size in sizes], ":", color="grey", label="linear")
    axes.set_ylim(bottom=0.5e3 * min(min(taken) for taken in lines.values()))
    axes.set_xlabel(label)
    axes.set_ylabel("milliseconds")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    device = torch.device(options.device)
    torch.set_num_threads(1)
    where = torch.cuda.get_device_name() if device.type == "cuda" else f"{platform.machine()}, 1 thread"
    print(f"torch {torch.__version__}, {where}")
    largest = 9 if device.type == "cpu" else 11
    classes, batches = [4**power for power in range(1, largest + 1)], [4**power for power in range(largest)]
    by_classes = measure([(64, each) for each in classes], device)
    show("classes, batch 64", classes, by_classes)
    by_batch = measure([(each, 256) for each in batches], device)
    show("batch, 256 classes", batches, by_batch)
    if options.out is not None:
        figure = Figure(figsize=(9, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        draw(left, classes, by_classes, "classes (batch 64)")
        draw(right, batches, by_batch, "batch (256 classes)")
        figure.savefig(options.out, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
