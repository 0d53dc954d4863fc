import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.methods import smooth_slopes
from onepeak.methods.slopes import Slopes
from onepeak.methods.smooth_slopes import SmoothSlopes, smoothed
from onepeak.metrics.functional import side_order_index
from onepeak.posterior import is_unimodal


def test_a_smoothing_worked_by_hand():
    # windows of 1, 3 and 5 around each of five outputs: (10 + 10/2 + 10/3) / 3, (0 + 10/3 + 10/4) / 3, ...
    expected = [(10 + 5 + 10 / 3 + 2) / 4, (10 / 3 + 2.5 + 2) / 4, (2 + 2) / 4, 2 / 4, 2 / 4]
    # with a reach of 4 the last window holds all five
    assert smoothed(torch.tensor([10.0, 0, 0, 0, 0])).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 64, 65, 257])
@pytest.mark.parametrize("form", [smooth_slopes._pooled, smooth_slopes._doubled])
def test_both_forms_are_the_mean_over_windows(form, size):
    outputs = torch.randn(2, 3, size, dtype=torch.float64)
    scales, reach = [outputs], 1
    while reach < size:
        windows = [outputs[..., max(0, level - reach) : level + reach + 1] for level in range(size)]
        scales.append(torch.stack([window.mean(dim=-1) for window in windows], dim=-1))
        reach *= 2
    torch.testing.assert_close(form(outputs), sum(scales) / len(scales))


def test_many_levels_are_not_pooled_whose_time_grows_with_their_square(monkeypatch):
    monkeypatch.setattr(smooth_slopes, "_pooled", None)
    outputs = torch.zeros(20_000)
    outputs[0] = 10.0
    assert smoothed(outputs)[0] == pytest.approx(10 * (1 + sum(1 / (2**i + 1) for i in range(15))) / 16)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 69, 300])
def test_nothing_is_lost_and_a_level_line_stays(size):
    matrix = smoothed(torch.eye(size, dtype=torch.float64)).T
    torch.testing.assert_close(matrix.sum(dim=1), torch.ones(size, dtype=torch.float64))
    assert torch.linalg.matrix_rank(matrix) == size  # whatever slopes are wanted, some outputs have them


def test_two_classes_are_slopes():
    outputs, labels = torch.randn(20, 1), torch.arange(20) % 2
    assert torch.equal(SmoothSlopes(2).loss(outputs, labels), Slopes(2).loss(outputs, labels))


def test_it_is_slopes_of_smoothed_outputs_for_any_leading_shape():
    outputs, labels = torch.randn(3, 4, 8), torch.randint(9, (3, 4))
    smooth, slopes = SmoothSlopes(9, weight=0.3, temperature=2.0), Slopes(9, weight=0.3, temperature=2.0)
    torch.testing.assert_close(
        smooth.loss(outputs, labels, reduction="none"), slopes.loss(smoothed(outputs), labels, reduction="none")
    )
    torch.testing.assert_close(smooth.log_probs(outputs), slopes.log_probs(smoothed(outputs)))
    torch.testing.assert_close(smooth.class_scores(outputs), slopes.class_scores(smoothed(outputs)))


@given(st.integers(0, 10**6))
def test_noise_on_outputs_that_change_their_sign_once_breaks_the_order_of_slopes_more_often(seed):
    generator = torch.Generator().manual_seed(seed)
    edge = torch.randint(10, 60, (64, 1), generator=generator)
    rough = (edge - torch.arange(69)) / 5 + 2 * torch.randn(64, 69, generator=generator)
    peaks = [is_unimodal(method(70).log_probs(rough)).float().mean() for method in (Slopes, SmoothSlopes)]
    assert peaks[1] > peaks[0] + 0.3
    posterior = SmoothSlopes(70).log_probs(rough)
    assert side_order_index(posterior, posterior.argmax(dim=-1)).mean() > 0.97
