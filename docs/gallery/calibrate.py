"""How sure is too sure?

Of predictions made with 80 % confidence, about 80 % should be right. An overconfident model lies below the diagonal;
one temperature, fitted on validation data, brings it back and changes neither the prediction nor the order.
"""

import torch
from matplotlib.figure import Figure

from onepeak.posterior import fit_temperature, reliability, temper

torch.manual_seed(0)
labels = torch.randint(6, (3000,))
centre = labels + 1.2 * torch.randn(3000)
log_probs = (-3 * (torch.arange(6) - centre[:, None]).abs()).log_softmax(-1)  # far too sure

temperature = fit_temperature(log_probs[:1000], labels[:1000])
tests = {"as trained": log_probs[1000:], "calibrated": temper(log_probs[1000:], temperature)}
print(f"temperature {float(temperature):.2f}")

figure = Figure(figsize=(4.2, 3.6), layout="constrained")
axes = figure.subplots()
axes.plot([0, 1], [0, 1], "--", color="tab:gray")
for name, posteriors in tests.items():
    found = reliability(posteriors, labels[1000:])
    print(f"{name}: off by {100 * found.confidence_error:.1f} points on average")
    axes.plot(
        [each.stated for each in found.confidence], [each.happened for each in found.confidence], "o-", label=name
    )
axes.set_xlabel("confidence")
axes.set_ylabel("share that is right")
axes.legend()
