import pytest
import torch
from scipy.stats import norm

from onepeak.methods.gaussian import NARROWEST, Gaussian, Regression, gaussian_scores


def test_the_deviation_is_held_between_next_to_nothing_and_the_scale():
    outputs = torch.tensor([[0.0, -50.0], [0.0, 50.0]])
    torch.testing.assert_close(Gaussian(num_classes=5).deviation(outputs), torch.tensor([NARROWEST, 5.0]))


@pytest.mark.parametrize("deviation", [0.3, 1.0, 5.0])
def test_the_scores_are_the_density_of_scipy_up_to_a_constant(deviation):
    means = torch.tensor([-2.0, 0.3, 3.9, 12.0], dtype=torch.float64)
    expected = torch.from_numpy(norm.logpdf(range(6), means.numpy()[:, None], deviation))
    expected = expected - expected.amax(dim=-1, keepdim=True)
    torch.testing.assert_close(gaussian_scores(means, deviation, 6), expected)
    torch.testing.assert_close(gaussian_scores(means, torch.full((4,), deviation, dtype=torch.float64), 6), expected)


def test_the_width_of_the_posterior_is_what_was_set_and_changes_no_loss():
    narrow, wide = Regression(num_classes=41, deviation=1.0), Regression(num_classes=41, deviation=3.0)
    outputs = torch.zeros(1, 1, dtype=torch.float64)
    for method, variance in ((narrow, 1.0), (wide, 9.0)):
        spread = method.log_probs(outputs).exp() @ (torch.arange(41.0, dtype=torch.float64) - 20).square()
        assert spread.item() == pytest.approx(variance, rel=1e-3)
    assert narrow.loss(outputs, torch.tensor([3])) == wide.loss(outputs, torch.tensor([3]))
