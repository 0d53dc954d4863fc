"""Losses on a GPU, relative to `F.cross_entropy`, to our own plain form and to the memory bandwidth limit.

Run: python benchmarks/gpu_losses.py [--rounds N] [--only recorded|eager]
Method: float32 scores; several inputs in turn, so that none is still in the cache; a step is forward, backward, and
dropping the gradient; many steps between two synchronisations, variants in turn, the median round. The floor is reading
the scores once and writing their gradient once, at the rate of a copy of 4 GB in this run. Recorded: the same steps as
one CUDA graph, as in training, so that the time is that of the kernels alone, without their launches. "plain" is the
same call with ONEPEAK_FUSED=0.
"""

import argparse
import contextlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from unittest import mock

import torch
from torch import Tensor
from torch.nn import functional as F

import onepeak
from losses import plain_elb
from onepeak.kernels import fused

SIZES = [(8, 70), (64, 58), (4096, 1000), (4096, 4096)]
STEPS_IN_A_GRAPH = 16
Step = Callable[[Tensor, Tensor], object]


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to do a step."""

    step: Step
    kernels: bool = True

    def switched(self) -> contextlib.AbstractContextManager[object]:
        """Turns the kernels on or off for this variant."""
        return contextlib.nullcontext() if self.kernels else mock.patch.object(fused, "takes", return_value=False)


def training(loss: Callable[[Tensor, Tensor], Tensor]) -> Step:
    return lambda scores, labels: torch.autograd.grad(loss(scores, labels), scores)


def losses_of_cross_entropy(num_classes: int) -> dict[str, Way]:
    elb = training(onepeak.ELBLoss(num_classes).cuda())
    return {
        "F.cross_entropy": Way(step=training(F.cross_entropy)),
        "ELBLoss": Way(step=elb),
        "PenaltyLoss": Way(step=training(onepeak.PenaltyLoss(num_classes).cuda())),
        "ELBLoss, plain": Way(step=elb, kernels=False),
        "ELB written out": Way(step=training(plain_elb)),
    }


def losses_of_rows(num_classes: int) -> dict[str, Way]:
    ways = {"F.cross_entropy": Way(step=training(F.cross_entropy))}
    for name in ("elb", "pn", "mv", "ld", "rps", "mv+elb", "ld+elb", "rps+elb"):
        step = training(onepeak.method(name, num_classes=num_classes).cuda().loss)
        ways[name] = Way(step=step)
        ways[f"{name}, plain"] = Way(step=step, kernels=False)
    return ways


def copy_rate() -> float:
    """Bytes read and written per second by a large copy."""
    source = torch.empty(1 << 30, dtype=torch.float32, device="cuda")
    target = torch.empty_like(source)
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(4):
            target.copy_(source)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / 4)
    return 2 * source.nbytes / min(times)


def batches(batch: int, num_classes: int) -> list[tuple[Tensor, Tensor]]:
    count = max(2, min(8, int(2e9 / (batch * num_classes * 4))))
    return [
        (
            torch.randn(batch, num_classes, device="cuda", requires_grad=True),
            torch.randint(num_classes, (batch,), device="cuda"),
        )
        for _ in range(count)
    ]


def several(way: Way, inputs: list[tuple[Tensor, Tensor]], count: int) -> float:
    """Seconds per step."""
    with way.switched():
        torch.cuda.synchronize()
        start = time.perf_counter()
        for index in range(count):
            way.step(*inputs[index % len(inputs)])
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / count


def recorded(way: Way, inputs: list[tuple[Tensor, Tensor]]) -> Way:
    """Records the steps as one graph; a step of the result replays all of it."""
    several(way, inputs, 3)
    graph = torch.cuda.CUDAGraph()
    with way.switched(), torch.cuda.graph(graph):
        for index in range(STEPS_IN_A_GRAPH):
            way.step(*inputs[index % len(inputs)])
    return Way(step=lambda scores, labels: graph.replay())  # noqa: ARG005 - its inputs are recorded


def measure(
    ways: dict[str, Way], batch: int, num_classes: int, rounds: int, *, in_graphs: bool = False
) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds per step, and peak memory beyond the scores, in tensors of their size."""
    size = batch * num_classes * 4
    inputs = batches(batch, num_classes)
    steps, steps_a_call = 200 if size < 1e8 else 10, 1
    peaks = {}
    for name, way in ways.items():
        several(way, inputs, 3)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        several(way, inputs, 1)
        peaks[name] = (torch.cuda.max_memory_allocated() - before) / size
    if in_graphs:
        ways = {name: recorded(way, inputs) for name, way in ways.items()}
        steps, steps_a_call = max(3, steps // STEPS_IN_A_GRAPH), STEPS_IN_A_GRAPH
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            taken[name].append(several(way, inputs, steps) / steps_a_call)
    return {name: 1e3 * statistics.median(times) for name, times in taken.items()}, peaks


def table(
    title: str,
    make: Callable[[int], dict[str, Way]],
    sizes: list[tuple[int, int]],
    *,
    rounds: int,
    rate: float,
    passes: int = 2,
    in_graphs: bool = False,
) -> None:
    """Prints a table; `passes` is how often the floor moves a tensor of the scores' size."""
    print(f"\n## {title}")
    for batch, num_classes in sizes:
        times, peaks = measure(make(num_classes), batch, num_classes, rounds, in_graphs=in_graphs)
        floor = 1e3 * passes * batch * num_classes * 4 / rate
        print(f"\n{batch} x {num_classes}, floor {floor:.4f} ms")
        for name, spent in times.items():
            line = f"  {name:20} {spent:8.4f} ms {spent / floor:9.1f} x floor, peak {peaks[name]:6.2f} tensors"
            if "F.cross_entropy" in times:
                line += f" {spent / times['F.cross_entropy']:8.2f} x CE"
            if f"{name}, plain" in times:
                line += f" {spent / times[f'{name}, plain']:8.2f} x plain"
            print(line, flush=True)
        torch.cuda.empty_cache()


TABLES = (
    ("Cross-entropy under order constraints", losses_of_cross_entropy, SIZES, 2),
    ("Losses of rows that fit the registers", losses_of_rows, SIZES, 2),
)
"""Title, variants, sizes, and how often the floor moves a tensor of the scores' size."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=("recorded", "eager"))
    options = parser.parse_args()
    rate = copy_rate()
    torch.cuda.empty_cache()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; a copy moves {rate / 1e12:.2f} TB/s")
    for title, make, sizes, passes in TABLES:
        if options.only != "eager":
            table(f"{title}, recorded", make, sizes, rounds=options.rounds, rate=rate, passes=passes, in_graphs=True)
        if options.only != "recorded":
            table(f"{title}, one by one", make, sizes, rounds=options.rounds, rate=rate, passes=passes)


if __name__ == "__main__":
    main()
