"""The nearest posterior with one peak.

A network trained with cross-entropy may find grade 2 most probable and grade 6 next. `project` gives the nearest
posterior that falls away from its peak on both sides, exactly, and without training again.
"""

import torch
from matplotlib.figure import Figure

import onepeak

probs = torch.tensor([[0.05, 0.12, 0.27, 0.10, 0.06, 0.13, 0.20, 0.07]])
projected = onepeak.posterior.project(probs.log()).exp()
print("one peak before:", onepeak.posterior.is_unimodal(probs.log()).item())
print("one peak after: ", onepeak.posterior.is_unimodal(projected.log()).item())

figure = Figure(figsize=(7, 2.6), layout="constrained")
axes = figure.subplots()
axes.bar(range(8), probs[0].tolist(), label="network")
axes.plot(range(8), projected[0].tolist(), "o-", color="tab:orange", label="projected")
axes.set_xlabel("grade")
axes.legend()
