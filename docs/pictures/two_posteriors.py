"""Makes two_posteriors.svg: the same sample seen by a network trained with cross-entropy and by one with ELB.

Run it from anywhere: `python docs/pictures/two_posteriors.py`. The networks are those of examples/first_contact.py; the
sample is the test sample that both predict right whose posterior under cross-entropy is most out of order.
"""

from pathlib import Path

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from svg import INK, plain, save
from torch import Tensor

import onepeak
from onepeak.metrics.functional import side_order_index, violation_size

NUM_CLASSES = 20
IN_ORDER, OUT_OF_ORDER = "#4c8bc4", "#e8694a"


def grades(size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """A measurement of 20 noisy numbers, and the grade of what was measured."""
    severity = torch.rand(size, 1, generator=generator)
    noise = torch.randn(size, 20, generator=generator)
    labels = (severity.squeeze(1) * NUM_CLASSES).long()
    return torch.sin(severity * torch.linspace(0.3, 6, 20)) + 0.3 * noise, labels


def posteriors(name: str, train: tuple[Tensor, Tensor], inputs: Tensor) -> Tensor:
    """What a network trained by a method says of some inputs."""
    torch.manual_seed(0)
    method = onepeak.method(name, num_classes=NUM_CLASSES)
    network = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, method.num_outputs))
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    for _ in range(60):
        for rows in torch.randperm(len(train[1])).split(32):
            optimizer.zero_grad()
            method.loss(network(train[0][rows]), train[1][rows]).backward()
            optimizer.step()
        method.tighten()
    with torch.no_grad():
        return method.log_probs(network(inputs))


def main() -> None:
    """Draws the image beside this file."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    train, (inputs, labels) = grades(400, generator), grades(1000, generator)
    plain, ordered = posteriors("ce", train, inputs), posteriors("elb", train, inputs)
    right = (plain.argmax(-1) == labels) & (ordered.argmax(-1) == labels)
    sample = int(torch.where(right, violation_size(plain, plain.argmax(-1)), 0.0).argmax())
    figure = Figure(figsize=(8, 2.6), layout="constrained")
    titles = ("cross-entropy", "cross-entropy and ELB")
    for axes, log_probs, title in zip(figure.subplots(1, 2, sharey=True), (plain, ordered), titles, strict=True):
        draw(axes, log_probs[sample], int(labels[sample]), title)
    save(figure, Path(__file__).with_suffix(".svg"))


def draw(axes: Axes, log_probs: Tensor, label: int, title: str) -> None:
    """One posterior; bars that are higher than their neighbour towards the peak stand out."""
    probs, peak = log_probs.exp().tolist(), int(log_probs.argmax())
    towards = [k + (k < peak) - (k > peak) for k in range(NUM_CLASSES)]
    colours = [OUT_OF_ORDER if k != peak and probs[k] >= probs[towards[k]] else IN_ORDER for k in range(NUM_CLASSES)]
    axes.bar(range(NUM_CLASSES), probs, color=colours)
    order = side_order_index(log_probs.unsqueeze(0), torch.tensor([peak])).item()
    axes.set_title(f"{title}: {order:.0%} of pairs in order", fontsize=10, color=INK)
    axes.set_xlabel(f"grade (true: {label})", fontsize=9, color=INK)
    axes.set_xticks(range(0, NUM_CLASSES, 2))
    plain(axes)


if __name__ == "__main__":
    main()
