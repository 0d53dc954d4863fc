import pytest
import torch
from dlordinal.output_layers import GaussianUncertaintyLayer
from scipy.stats import norm

from onepeak.errors import InputError
from onepeak.methods.gaussian import NARROWEST, Gaussian


def test_the_posterior_is_that_of_dlordinal():
    layer = GaussianUncertaintyLayer(3, 5)
    features = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    places = layer.mu_layer(features) / 2 - 1  # theirs counts in classes, ours from -1 to 1
    outputs = torch.cat([places, layer.sigma_layer(features)], dim=-1)
    probs, deviation = layer(features)
    gaussian = Gaussian(num_classes=5)
    torch.testing.assert_close(gaussian.log_probs(outputs).exp(), probs, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gaussian.deviation(outputs), deviation)


def test_the_loss_is_the_value_worked_by_hand():
    outputs = torch.tensor([[0.0, 2.0]], dtype=torch.float64)
    deviation = torch.nn.functional.softplus(outputs[0, 1]).item()
    density = norm.pdf([0, 1, 2], 1, deviation)
    expected = -torch.tensor(density[2] / density.sum()).log().item() + 0.3 * deviation**2
    got = Gaussian(num_classes=3, variance_weight=0.3).loss(outputs, torch.tensor([2]))
    assert got.item() == pytest.approx(expected)


def test_the_deviation_is_held_between_next_to_nothing_and_the_scale():
    outputs = torch.tensor([[0.0, -50.0], [0.0, 50.0]])
    torch.testing.assert_close(Gaussian(num_classes=5).deviation(outputs), torch.tensor([NARROWEST, 5.0]))


@pytest.mark.bad_input
def test_a_negative_weight_is_refused():
    with pytest.raises(InputError, match=r"`variance_weight` must be a finite number >= 0, got -1\.0\."):
        Gaussian(num_classes=5, variance_weight=-1.0)
