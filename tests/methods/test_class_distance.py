import math

import pytest
import torch
from dlordinal.losses import CDWCELoss

import onepeak
from onepeak.methods.class_distance import ClassDistance, CostSensitive, log_of_the_rest

SCORES = torch.randn(9, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(9) % 5


def test_the_loss_is_the_value_worked_by_hand():
    scores = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()
    got = ClassDistance(num_classes=3, power=2.0).loss(scores, torch.tensor([0]))
    assert got.item() == pytest.approx(-math.log(0.5) - 4 * math.log(0.7))


@pytest.mark.parametrize("power", [0.5, 1.5, 5.0])
def test_the_loss_is_that_of_dlordinal(power):
    from dlordinal.losses import CDWCELoss

    got = ClassDistance(num_classes=5, power=power).loss(SCORES, LABELS)
    torch.testing.assert_close(got, CDWCELoss(num_classes=5, alpha=power)(SCORES, LABELS), rtol=1e-5, atol=1e-5)


def test_it_is_right_where_dlordinal_is_not_a_number():
    from dlordinal.losses import CDWCELoss

    scores, labels = torch.tensor([[100.0, 0.0, 0.0]]), torch.tensor([2])
    assert CDWCELoss(num_classes=3, alpha=1.0)(scores, labels).isnan()
    got = ClassDistance(num_classes=3, power=1.0).loss(scores, labels)
    assert got.item() == pytest.approx(2 * (100 - math.log(2)))  # 1 - p of the first is 2 e^-100


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


def test_a_margin_is_that_of_dlordinal_and_frees_what_stays_within_it():
    for margin in (0.05, 0.3):
        got = ClassDistance(num_classes=5, power=2.0, margin=margin).loss(SCORES, LABELS)
        torch.testing.assert_close(got, CDWCELoss(5, alpha=2.0, margin=margin)(SCORES, LABELS), rtol=1e-5, atol=1e-5)
    scores = torch.tensor([[0.9, 0.06, 0.04]]).log()
    assert ClassDistance(num_classes=3, margin=0.1).loss(scores, torch.tensor([0])) == 0


def test_the_ordinal_log_loss_is_the_same_at_another_power():
    got = onepeak.method("oll", 5).loss(SCORES, LABELS)
    torch.testing.assert_close(got, ClassDistance(num_classes=5, power=1.5).loss(SCORES, LABELS))


def test_the_rest_of_a_sure_class_keeps_its_digits():
    rest = log_of_the_rest(torch.tensor([50.0, 0.0, -1.0]))
    assert rest[0].item() == pytest.approx(math.log(1 + math.exp(-1)) - 50)
    assert rest[1].item() == pytest.approx(-math.exp(-50))


def test_the_cost_sensitive_loss_is_the_value_worked_by_hand():
    scores = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()
    got = CostSensitive(num_classes=3, weight=4.0).loss(scores, torch.tensor([0]))
    assert got.item() == pytest.approx(-math.log(0.2) + 4 * (0.5 / 4 + 0.3))
    linear = CostSensitive(num_classes=3, weight=4.0, power=1.0).loss(scores, torch.tensor([1]))
    assert linear.item() == pytest.approx(-math.log(0.5) + 4 * (0.2 / 2 + 0.3 / 2))
