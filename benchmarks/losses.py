"""Forward + backward of the ordinal losses on the CPU, relative to `F.cross_entropy`, and the memory of ELB.

Run: python benchmarks/losses.py [--threads N]
Method: in every round each loss takes one step, in random order, so that all run under the same conditions and none
always follows the same other; median of many rounds after a warm-up.
"""

import argparse
import math
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
from torch import Tensor
from torch.nn import functional as F

import onepeak
from onepeak.constraints import log_barrier, order_gaps

Loss = Callable[[Tensor, Tensor], Tensor]
SIZES = {(8, 70): 2000, (64, 58): 2000, (4096, 1000): 20}
MEMORY_SIZE = (4096, 4000)


def plain_elb(scores: Tensor, labels: Tensor) -> Tensor:
    """ELB written directly from its definition."""
    return F.cross_entropy(scores, labels) + log_barrier(order_gaps(scores, labels), 1.0).sum(-1).mean()


def peers(num_classes: int) -> dict[str, Loss]:
    """The losses of dlordinal and coral-pytorch that compute the same, if installed."""
    found: dict[str, Loss] = {}
    try:
        from dlordinal import losses as theirs

        ce = torch.nn.CrossEntropyLoss()
        found |= {
            "dlordinal rps": theirs.EMDLoss(num_classes),
            "dlordinal cdw-ce": theirs.CDWCELoss(num_classes, alpha=5.0),
            "dlordinal soft-exponential": theirs.ExponentialLoss(ce, num_classes),
            "dlordinal soft-triangular": theirs.TriangularLoss(ce, num_classes),
            "dlordinal soft-binomial": theirs.BinomialLoss(ce, num_classes),
        }
        if num_classes <= 100:  # it keeps a table of classes x classes x classes
            found["dlordinal slace"] = theirs.SLACELoss(1.0, num_classes)
    except ImportError:
        pass
    try:
        from coral_pytorch.losses import corn_loss

        found["coral-pytorch corn"] = lambda scores, labels: corn_loss(scores[:, :-1], labels, num_classes)
    except ImportError:
        pass
    return found


def losses(num_classes: int) -> dict[str, Loss]:
    """All losses of one table, the reference first."""
    names = ("ren", "ld", "mv", "rps", "cdw-ce", "slace", "soft-exponential", "soft-triangular", "soft-binomial")
    ours = {name: onepeak.method(name, num_classes=num_classes).loss for name in (*names, "slopes", "corn")}
    return {
        "F.cross_entropy": F.cross_entropy,
        "onepeak.ELBLoss": onepeak.ELBLoss(num_classes),
        "onepeak.PenaltyLoss": onepeak.PenaltyLoss(num_classes),
        "ELB in plain PyTorch": plain_elb,
        **{f"onepeak {name}": ours[name] for name in names},
        "onepeak slopes": lambda scores, labels: ours["slopes"](scores[:, :-1], labels),
        "onepeak corn": lambda scores, labels: ours["corn"](scores[:, :-1], labels),
        **peers(num_classes),
    }


def seconds(candidates: dict[str, Loss], batch: int, num_classes: int, steps: int) -> dict[str, float]:
    """Median time of one step of each loss, interleaved."""
    torch.manual_seed(0)
    scores = torch.randn(batch, num_classes, requires_grad=True)
    labels = torch.randint(num_classes, (batch,))
    taken: dict[str, list[float]] = {name: [] for name in candidates}
    for step in range(steps + max(3, steps // 10)):
        for name in random.sample(list(candidates), len(candidates)):
            loss = candidates[name]
            if len(taken[name]) > 3 and taken[name][-1] > 2:  # a loss that loops over samples in Python: enough data
                continue
            scores.grad = None
            start = time.perf_counter()
            loss(scores, labels).backward()
            spent = time.perf_counter() - start
            if step >= max(3, steps // 10):
                taken[name].append(spent)
    return {name: median(times) for name, times in taken.items()}


def peak_memory(loss: str) -> int:
    """Peak bytes of one step beyond the scores and their gradient, measured in a new process."""
    return int(subprocess.run([sys.executable, __file__, "--memory", loss], capture_output=True, check=True).stdout)


def measure_memory(name: str) -> None:
    """Runs in the new process: prints by how much the peak of a step exceeds the memory held before it (Linux)."""
    batch, num_classes = MEMORY_SIZE
    scores = torch.randn(batch, num_classes, requires_grad=True)
    labels = torch.randint(num_classes, (batch,))
    candidates: dict[str, Loss] = {
        "elb": onepeak.ELBLoss(num_classes),
        "plain": plain_elb,
        "ce": F.cross_entropy,
    }
    candidates[name](scores[:2], labels[:2]).backward()  # exclude one-off setup; scores.grad exists now
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = resident("VmRSS")
    scores.grad = None
    candidates[name](scores, labels).backward()
    print(resident("VmHWM") - before)


def resident(field: str) -> int:
    """A field of the process's memory account, in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.memory:
        measure_memory(arguments.memory)
        return

    print(f"torch {torch.__version__}, {arguments.threads} thread(s), {platform.machine()}")
    print("forward + backward as a multiple of F.cross_entropy\n")
    tables = {size: seconds(losses(size[1]), *size, steps) for size, steps in SIZES.items()}
    print(f"{'':28}" + "".join(f"{f'{batch} x {classes}':>16}" for batch, classes in SIZES))
    for name in tables[8, 70]:
        ratios = [table.get(name, math.nan) / table["F.cross_entropy"] for table in tables.values()]
        print(f"{name:28}" + "".join(f"{ratio:16.2f}" for ratio in ratios))
    print(f"{'(microseconds of 1.00)':28}" + "".join(f"{t['F.cross_entropy'] * 1e6:16.1f}" for t in tables.values()))

    batch, num_classes = MEMORY_SIZE
    size = batch * num_classes * 4
    print(f"\npeak memory beyond scores and their gradient, {batch} x {num_classes}, in tensors of that size")
    for name, title in (("ce", "F.cross_entropy"), ("elb", "onepeak.ELBLoss"), ("plain", "ELB in plain PyTorch")):
        print(f"{title:24}{peak_memory(name) / size:16.2f}")


if __name__ == "__main__":
    main()
