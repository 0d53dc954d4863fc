"""Projection onto one-peaked posteriors, compared with scipy's isotonic regression at every cut.

Run: python benchmarks/projection.py [--device cpu|cuda] [--threads N] [--rows N] [--classes N]
Method: `posterior.project` on all rows, median of several runs after a warm-up; scipy in a Python loop over rows and
cuts, which uses one core whatever N, on the first rows only and scaled to all of them; both in this process, with their
distances compared on those rows. On a GPU the time includes waiting for the result, but not the transfer to the GPU.
"""

import argparse
import platform
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import scipy
import torch
from scipy.optimize import isotonic_regression
from torch import Tensor

from onepeak.posterior import is_unimodal, project

RUNS = 5


def noisy_peaks(rows: int, classes: int, generator: torch.Generator) -> Tensor:
    """The output of a network that has learned where the peak is, but not its shape."""
    peaks = torch.rand(rows, 1, generator=generator) * classes
    widths = classes * torch.empty(rows, 1).uniform_(0.02, 0.2, generator=generator)
    bump = -0.5 * ((torch.arange(classes) - peaks) / widths).square()
    return (bump + 0.3 * torch.randn(rows, classes, generator=generator)).log_softmax(-1)


def pure_noise(rows: int, classes: int, generator: torch.Generator) -> Tensor:
    """The output of a network that has learned nothing."""
    return torch.randn(rows, classes, generator=generator).log_softmax(-1)


def nearest_by_scipy(probs: np.ndarray) -> np.ndarray:
    """The best rise before a cut and the best fall after it, for every cut."""
    best, shortest = probs, np.inf
    for cut in range(1, len(probs)):
        rise, fall = isotonic_regression(probs[:cut]).x, isotonic_regression(probs[cut:], increasing=False).x
        distance = np.square(probs[:cut] - rise).sum() + np.square(probs[cut:] - fall).sum()
        if distance < shortest:
            best, shortest = np.concatenate([rise, fall]), distance
    return best


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """Median time of a run, synchronised with the device."""
    taken = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        taken.append(time.perf_counter() - start)
    return median(taken[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--rows-for-scipy", type=int, default=200)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    device = torch.device(arguments.device)

    where = torch.cuda.get_device_name(device) if device.type == "cuda" else f"{arguments.threads} thread(s)"
    print(f"torch {torch.__version__}, scipy {scipy.__version__}, {where}, {platform.machine()} {platform.processor()}")
    print(
        f"{arguments.rows:,} rows x {arguments.classes} classes, float32; scipy timed on {arguments.rows_for_scipy}\n"
    )
    print(f"{'':16}{'one-peaked':>12}{'project':>12}{'scipy loop':>14}{'ratio':>10}{'distances differ by':>22}")
    for kind in (noisy_peaks, pure_noise):
        log_probs = kind(arguments.rows, arguments.classes, torch.Generator().manual_seed(0))
        on_device = log_probs.to(device)
        ours = seconds(lambda rows=on_device: project(rows), device)  # type: ignore[misc]

        some = log_probs[: arguments.rows_for_scipy].double().exp().numpy()
        start = time.perf_counter()
        theirs = np.stack([nearest_by_scipy(probs) for probs in some])
        loop = (time.perf_counter() - start) * arguments.rows / len(some)

        fit = project(on_device[: len(some)]).cpu().double().exp().numpy()
        worst = np.abs(np.square(some - fit).sum(1) - np.square(some - theirs).sum(1)).max()
        already = is_unimodal(log_probs).float().mean().item()
        print(
            f"{kind.__name__.replace('_', ' '):16}{already:12.1%}{ours:10.2f} s{loop:12.1f} s{loop / ours:10.0f}"
            f"{worst:22.1e}"
        )


if __name__ == "__main__":
    main()
