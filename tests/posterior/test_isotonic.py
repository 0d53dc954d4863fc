import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from onepeak.constraints import order_gaps
from onepeak.posterior.isotonic import break_ties, prefix_fits, prefix_fits_by_pairs
from reference.projection import distance_between

FORMS = pytest.mark.parametrize("form", [prefix_fits, prefix_fits_by_pairs])
DISTANCES = pytest.mark.parametrize("distance", ["squared", "kl"])


@FORMS
@DISTANCES
@given(
    values=st.one_of(
        st.lists(st.floats(-6, 3), min_size=2, max_size=15),
        st.lists(st.integers(0, 2).map(float), min_size=2, max_size=15),  # many ties
    )
)
def test_every_prefix_agrees_with_scipy(form, distance, values):
    means, distances = form(torch.tensor([values], dtype=torch.float64), distance)
    raw = np.exp(values)
    for length in range(1, len(values) + 1):
        fit = isotonic_regression(raw[:length]).x
        np.testing.assert_allclose(means[0, :length].flip(-1).cummin(-1).values.flip(-1).exp(), fit, rtol=1e-12)
        expected = distance_between(raw[:length], fit, distance)
        assert distances[0, length - 1].item() == pytest.approx(expected, rel=1e-9, abs=1e-12 * raw.max() ** 2)


@FORMS
def test_means_keep_their_digits_where_exp_underflows(form):
    low = [-9000.0, -9001.0, -9002.0]
    means, _ = form(torch.tensor([low], dtype=torch.float64), "squared")
    expected = -9000 + np.log(np.exp([0.0, -1.0, -2.0]).cumsum() / [1, 2, 3])
    np.testing.assert_allclose(means[0], expected, rtol=1e-15)


FORMS_STRICT = pytest.mark.parametrize("traced", [False, True])
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def weakly_one_peaked(scores, peak, dtype):
    """The scores made to fall, or stay, away from the peak."""
    log_probs = torch.tensor(scores, dtype=torch.float64).log_softmax(-1)
    left, right = log_probs[: peak + 1], log_probs[peak:]
    left = left.clamp(max=float(log_probs[peak])).flip(0).cummin(0).values.flip(0)
    right = right.clamp(max=float(log_probs[peak])).cummin(0).values
    return torch.cat([left, right[1:]]).log_softmax(-1).to(dtype)


@FORMS_STRICT
@DTYPES
@settings(max_examples=100)
@given(
    scores=st.one_of(
        st.lists(st.floats(-1e4, 0, width=32), min_size=2, max_size=30),
        st.lists(st.floats(-4, 0, width=16), min_size=2, max_size=30),
        st.lists(st.integers(0, 2).map(float), min_size=2, max_size=30),
    ),
    data=st.data(),
)
def test_rows_fall_strictly_and_keep_their_sum(traced, dtype, scores, data):
    peak = data.draw(st.integers(0, len(scores) - 1))
    weak = weakly_one_peaked(scores, peak, dtype)
    strict = break_ties(weak, torch.tensor(peak), traced=traced)
    assert (order_gaps(strict, torch.tensor(peak)) < 0).all()
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(strict, weak, rtol=4 * len(scores) * eps, atol=4 * eps)
    assert strict.exp().sum().item() == pytest.approx(weak.exp().sum().item(), abs=10 * eps)


@FORMS_STRICT
def test_a_row_without_ties_keeps_its_bits(traced):
    rows = torch.tensor([[-3.0, -1.0, -0.5, -2.0], [-9e3, -1e-9, -30.0, -1e4]])
    assert torch.equal(break_ties(rows, torch.tensor([2, 1]), traced=traced), rows)
