import pytest
import torch
from scipy.stats import norm

from onepeak.methods.gaussian_scores import gaussian_scores, place_on_scale


@pytest.mark.parametrize("deviation", [0.3, 1.0, 5.0])
def test_the_scores_are_the_density_of_scipy_up_to_a_constant(deviation):
    means = torch.tensor([-2.0, 0.3, 3.9, 12.0], dtype=torch.float64)
    expected = torch.from_numpy(norm.logpdf(range(6), means.numpy()[:, None], deviation))
    expected = expected - expected.amax(dim=-1, keepdim=True)
    torch.testing.assert_close(gaussian_scores(means, deviation, 6), expected)
    torch.testing.assert_close(gaussian_scores(means, torch.full((4,), deviation, dtype=torch.float64), 6), expected)


def test_classes_stay_apart_far_off_the_scale_in_float32():
    scores = gaussian_scores(torch.tensor([3e5, -3e5]), 1.0, 70)
    assert (scores[0].diff() > 0).all()
    assert (scores[1].diff() < 0).all()


def test_the_ends_of_the_scale_are_minus_one_and_one():
    assert place_on_scale(torch.tensor([-1.0, 0.0, 1.0]), 70).tolist() == [0.0, 34.5, 69.0]
