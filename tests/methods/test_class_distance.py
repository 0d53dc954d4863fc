import math

import pytest
import torch

from onepeak.methods.class_distance import ClassDistance, Slace, log_of_the_rest


@pytest.mark.parametrize("num_classes", [5, 70, 200])
def test_a_scaler_of_gradients_finds_what_float16_can_hold(num_classes):
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(num_classes, (64,), generator=generator)
    features = (4.0 * labels / num_classes - 2).unsqueeze(-1) + 0.1 * torch.randn(64, 8, generator=generator)
    method, network = ClassDistance(num_classes), torch.nn.Linear(8, num_classes)
    torch.nn.init.zeros_(network.weight)
    optimizer, scaler = torch.optim.Adam(network.parameters(), lr=0.05), torch.amp.GradScaler("cpu")
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            outputs = network(features)
        losses.append(method.loss(outputs, labels))
        scaler.scale(losses[-1]).backward()
        scaler.step(optimizer)
        scaler.update()
    assert outputs.dtype == torch.float16
    assert losses[-1] < 0.2 * losses[0]


def test_the_rest_of_a_sure_class_keeps_its_digits():
    rest = log_of_the_rest(torch.tensor([50.0, 0.0, -1.0]))
    assert rest[0].item() == pytest.approx(math.log(1 + math.exp(-1)) - 50)
    assert rest[1].item() == pytest.approx(-math.exp(-50))


def test_mass_that_moves_towards_the_label_costs_less():
    far = torch.tensor([[0.4, 0.1, 0.1, 0.4]]).log()
    near = torch.tensor([[0.4, 0.1, 0.4, 0.1]]).log()
    slace = Slace(num_classes=4)
    assert slace.loss(near, torch.tensor([0])) < slace.loss(far, torch.tensor([0]))
