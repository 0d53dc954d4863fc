"""One posterior, four decisions.

The mode is right most often, the median has the smallest expected distance, the mean the smallest squared one. With
costs, the decision is the class that costs least: here, to miss a severe case costs ten times as much as a false alarm.
"""

import torch
from matplotlib.figure import Figure

import onepeak

probs = torch.tensor([[0.34, 0.20, 0.16, 0.13, 0.10, 0.07]])
log_probs = probs.log()
true, predicted = torch.meshgrid(torch.arange(6.0), torch.arange(6.0), indexing="ij")
costs = torch.where(predicted < true, 10 * (true - predicted), predicted - true)
decisions = {
    "mode": onepeak.posterior.mode(log_probs),
    "median": onepeak.posterior.median(log_probs),
    "mean": onepeak.posterior.mean(log_probs),
    "least cost": onepeak.posterior.minimum_cost(log_probs, costs),
}
for name, label in decisions.items():
    print(f"{name:10} class {label.item()}")

figure = Figure(figsize=(7, 2.6), layout="constrained")
axes = figure.subplots()
axes.bar(range(6), probs[0].tolist())
for height, (name, label) in enumerate(decisions.items()):
    axes.annotate(name, (label.item(), 0.36 + 0.04 * height), ha="center", fontsize=9)
axes.set_ylim(0, 0.55)
axes.set_xlabel("class")
