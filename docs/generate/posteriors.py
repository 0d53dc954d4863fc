"""Draws what each method's posterior looks like, once trained on a small problem whose true posterior is known."""

from pathlib import Path

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

import onepeak
from onepeak.methods.record import MethodRecord
from onepeak.metrics.functional import side_order_index

NUM_CLASSES, NOISE, STEPS = 8, 0.12, 100
SHOWN = (0.12, 0.45, 0.8)
"""Inputs whose posteriors are drawn."""
INK, BAR = "#403248", "#8a63a6"


def planted(size: int) -> tuple[Tensor, Tensor]:
    """A number between 0 and 1, and the eighth that it falls into once noise is added."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(size, 1, generator=generator)
    noisy = x.squeeze(-1) + NOISE * torch.randn(size, generator=generator)
    return x, (noisy * NUM_CLASSES).long().clamp(0, NUM_CLASSES - 1)


def true_posterior(x: float) -> Tensor:
    """What an input says of its class."""
    edges = torch.linspace(0, 1, NUM_CLASSES + 1, dtype=torch.float64)[1:-1]
    below = torch.special.ndtr((edges - x) / NOISE)
    return torch.cat([below.new_zeros(1), below, below.new_ones(1)]).diff()


def trained(name: str) -> tuple[nn.Module, onepeak.Method]:
    """A small network and its method, after some seconds of training; the same for every method."""
    x, labels = planted(300)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        method = onepeak.method(name, num_classes=NUM_CLASSES)
        network = nn.Sequential(nn.Linear(1, 64), nn.ReLU(), nn.Linear(64, method.num_outputs))
    optimizer = torch.optim.Adam([*network.parameters(), *method.parameters()], lr=3e-2)
    for step in range(STEPS):
        optimizer.zero_grad()
        method.loss(network(2 * x - 1), labels).backward()
        optimizer.step()
        if step % 10 == 9:
            method.tighten()
    return network.eval(), method


def draw(record: MethodRecord, path: Path) -> str:
    """Draws three posteriors and says how the method does on new data, in one sentence."""
    network, method = trained(record.name)
    with torch.no_grad():
        shown = method.log_probs(network(2 * torch.tensor(SHOWN).unsqueeze(-1) - 1)).exp()
        x = torch.linspace(0, 1, 500).unsqueeze(-1)
        outputs = network(2 * x - 1)
        log_probs, predicted = method.log_probs(outputs), method.predict(outputs)
    figure = Figure(figsize=(7.2, 1.6))
    figure.subplots_adjust(left=0.05, right=0.99, bottom=0.12, top=0.95, wspace=0.05)
    for axes, probs, place in zip(figure.subplots(1, 3, sharey=True), shown, SHOWN, strict=True):
        axes.bar(range(NUM_CLASSES), probs.tolist(), color=BAR, width=0.85)
        axes.plot(range(NUM_CLASSES), true_posterior(place).tolist(), color=INK, marker="o", markersize=3, linewidth=1)
        axes.set_xticks(range(NUM_CLASSES))
        axes.tick_params(labelsize=7, length=0)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=100)
    truth = torch.stack([true_posterior(value) for value in x.squeeze(-1).tolist()])
    best = expected_error(onepeak.posterior.median(truth.clamp(min=1e-300).log()), truth)
    order = side_order_index(log_probs, predicted).mean().item()
    return (
        f"{order:.0%} of adjacent pairs in order, an expected absolute error of {expected_error(predicted, truth):.2f} "
        f"(the least there is: {best:.2f})"
    )


def expected_error(predicted: Tensor, truth: Tensor) -> float:
    """The mean absolute error over all classes that may be true."""
    distances = (torch.arange(NUM_CLASSES) - predicted.unsqueeze(-1)).abs()
    return (truth * distances).sum(dim=-1).mean().item()
