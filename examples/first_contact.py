"""The idea in one minute: the same small network trained with cross-entropy and with ELB on ordered labels.

Look at the order, which holds for any seed. The MAE of one seed and 400 samples means little: over seeds 0 to 4 it is
0.63 to 0.70 for cross-entropy and 0.69 to 0.87 for ELB here, while on real faces that of ELB is lower (see README).
"""

import torch

import onepeak
from onepeak.metrics.functional import mean_absolute_error, side_order_chance, side_order_index

torch.set_num_threads(1)  # the tensors are too small for several threads
NUM_CLASSES = 20
generator = torch.Generator().manual_seed(0)


def grades(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Noisy measurements with 20 features, and their grades."""
    severity = torch.rand(size, 1, generator=generator)
    noise = torch.randn(size, 20, generator=generator)
    labels = (severity.squeeze(1) * NUM_CLASSES).long()
    return torch.sin(severity * torch.linspace(0.3, 6, 20)) + 0.3 * noise, labels


train_inputs, train_labels = grades(400)
test_inputs, test_labels = grades(1000)
print(f"{'loss':6}{'MAE':>8}{'pairs in order':>18}   (chance {side_order_chance(NUM_CLASSES):.0%})")
for name in ("ce", "elb"):
    torch.manual_seed(0)
    method = onepeak.method(name, num_classes=NUM_CLASSES)
    network = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, method.num_outputs))
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    for _ in range(60):
        for rows in torch.randperm(400).split(32):
            optimizer.zero_grad()
            method.loss(network(train_inputs[rows]), train_labels[rows]).backward()
            optimizer.step()
        method.tighten()
    with torch.no_grad():
        outputs = network(test_inputs)
    predicted = method.predict(outputs)
    order = side_order_index(method.log_probs(outputs), predicted).mean()
    print(f"{name:6}{mean_absolute_error(predicted, test_labels):8.2f}{order:18.1%}")
