import pytest
import torch

from onepeak.methods.regression import Regression


def test_the_loss_is_the_squared_error_on_a_scale_from_minus_one_to_one():
    regression = Regression(num_classes=5)
    got = regression.loss(torch.tensor([[-1.0], [0.25], [3.0]]), torch.tensor([0, 3, 4]), reduction="none")
    assert got.tolist() == [0.0, 0.0625, 4.0]


def test_the_prediction_is_the_nearest_class_on_the_scale():
    outputs = torch.linspace(-1.5, 1.5, 301, dtype=torch.float64).unsqueeze(-1)
    expected = ((outputs.squeeze(-1) + 1) * 2).round().clamp(0, 4).long()
    ties = ((outputs.squeeze(-1) + 1) * 2 % 1 - 0.5).abs() < 1e-9
    assert torch.equal(Regression(num_classes=5).predict(outputs)[~ties], expected[~ties])


def test_the_width_of_the_posterior_is_what_was_set_and_changes_no_loss():
    narrow, wide = Regression(num_classes=41, deviation=1.0), Regression(num_classes=41, deviation=3.0)
    outputs = torch.zeros(1, 1, dtype=torch.float64)
    for method, variance in ((narrow, 1.0), (wide, 9.0)):
        spread = method.log_probs(outputs).exp() @ (torch.arange(41.0, dtype=torch.float64) - 20).square()
        assert spread.item() == pytest.approx(variance, rel=1e-3)
    assert narrow.loss(outputs, torch.tensor([3])) == wide.loss(outputs, torch.tensor([3]))
