"""Two losses on the same network.

Cross-entropy learns the class but not the order around it. `PeakLoss`, behind a layer that lets neighbouring scores
learn together, has nearly every pair of neighbours in order after a few epochs.
"""

import torch
from matplotlib.figure import Figure

import onepeak
from onepeak.metrics.functional import side_order_index

torch.manual_seed(0)
severity = torch.rand(600, 1)
labels = (severity.squeeze(1) * 20).long()
inputs = torch.sin(severity * torch.linspace(0.3, 6, 20)) + 0.3 * torch.randn(600, 20)


def trained(loss, *last):
    """The share of pairs in order after each epoch."""
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 20), *last)
    optimizer, course = torch.optim.AdamW(network.parameters(), lr=3e-3), []
    for _ in range(20):
        for rows in torch.randperm(600).split(32):
            optimizer.zero_grad()
            loss(network(inputs[rows]), labels[rows]).backward()
            optimizer.step()
        log_probs = network(inputs).detach().log_softmax(-1)
        course.append(100 * side_order_index(log_probs, log_probs.argmax(-1)).mean().item())
    return course


courses = {
    "cross-entropy": trained(torch.nn.CrossEntropyLoss()),
    "peak": trained(onepeak.PeakLoss(num_classes=20), onepeak.SmoothScores(20)),
}
for name, course in courses.items():
    print(f"{name:14} {course[-1]:.1f} % of pairs in order")

figure = Figure(figsize=(7, 2.8), layout="constrained")
axes = figure.subplots()
for name, course in courses.items():
    axes.plot(range(1, 21), course, label=name)
axes.set_xlabel("epoch")
axes.set_ylabel("pairs in order (%)")
axes.legend()
