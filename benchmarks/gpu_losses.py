"""Forward + backward of CE + ELB on a GPU, as a multiple of `F.cross_entropy` and of the memory's own limit.

Run: python benchmarks/gpu_losses.py [--rounds N]
Method: float32 scores; several inputs in turn, so that none is found in the cache of the one before; a step is forward,
backward, and the gradient dropped; many steps between two waits for the device, ways in turn, the median round. The
floor is reading the scores once and writing their gradient once at the rate that a copy of 4 GB reaches in this run.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from unittest import mock

import torch
from torch import Tensor
from torch.nn import functional as F

import onepeak
from onepeak.constraints import log_barrier, order_gaps
from onepeak.kernels import fused

SIZES = [(8, 70), (64, 58), (4096, 1000), (8192, 10_000), (1024, 100_000), (128, 1_000_000)]
Loss = Callable[[Tensor, Tensor], Tensor]


def plain_elb(scores: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(scores, labels) + log_barrier(order_gaps(scores, labels), 1.0).sum(-1).mean()


def without_kernels(loss: Loss) -> Loss:
    def run(scores: Tensor, labels: Tensor) -> Tensor:
        with mock.patch.object(fused, "takes", return_value=False):
            return loss(scores, labels)

    return run


def losses(num_classes: int) -> dict[str, Loss]:
    elb = onepeak.ELBLoss(num_classes).cuda()
    return {
        "F.cross_entropy": F.cross_entropy,
        "ELBLoss": elb,
        "PenaltyLoss": onepeak.PenaltyLoss(num_classes).cuda(),
        "ELBLoss, no kernels": without_kernels(elb),
        "plain ELB": plain_elb,
    }


def copy_rate() -> float:
    """Bytes read and written a second by a large copy."""
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


def measure(batch: int, num_classes: int, rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds a step and peak memory beyond the scores, in tensors of their size."""
    size = batch * num_classes * 4
    inputs = max(2, min(8, int(2e9 / size)))
    scores = [torch.randn(batch, num_classes, device="cuda", requires_grad=True) for _ in range(inputs)]
    labels = [torch.randint(num_classes, (batch,), device="cuda") for _ in range(inputs)]
    ways = losses(num_classes)
    steps = 200 if size < 1e8 else 10
    taken: dict[str, list[float]] = {name: [] for name in ways}
    peaks = {}

    def several(loss: Loss, count: int) -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        for step in range(count):
            leaf = scores[step % inputs]
            loss(leaf, labels[step % inputs]).backward()
            leaf.grad = None
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / count

    for name, loss in ways.items():
        several(loss, 3)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        several(loss, 1)
        peaks[name] = (torch.cuda.max_memory_allocated() - before) / size
    for _ in range(rounds):
        for name, loss in ways.items():
            taken[name].append(several(loss, steps))
    return {name: 1e3 * statistics.median(times) for name, times in taken.items()}, peaks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    rate = copy_rate()
    torch.cuda.empty_cache()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; a copy moves {rate / 1e12:.2f} TB/s")
    for batch, num_classes in SIZES:
        times, peaks = measure(batch, num_classes, options.rounds)
        floor = 1e3 * 2 * batch * num_classes * 4 / rate
        base = times["F.cross_entropy"]
        print(f"\n{batch} x {num_classes}, floor {floor:.4f} ms")
        for name, spent in times.items():
            print(
                f"  {name:20} {spent:8.3f} ms {spent / base:7.2f} x CE {spent / floor:9.1f} x floor, "
                f"peak {peaks[name]:6.2f} tensors"
            )
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
