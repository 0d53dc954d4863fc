import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from onepeak.posterior.isotonic import prefix_fits, prefix_fits_by_pairs
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


@DISTANCES
def test_both_forms_agree_for_any_leading_shape(distance):
    values = torch.randn(2, 3, 40, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for ours, by_pairs in zip(prefix_fits(values, distance), prefix_fits_by_pairs(values, distance), strict=True):
        assert ours.shape == values.shape
        torch.testing.assert_close(ours, by_pairs, rtol=1e-12, atol=1e-12)


@FORMS
def test_means_keep_their_digits_where_exp_underflows(form):
    low = [-9000.0, -9001.0, -9002.0]
    means, _ = form(torch.tensor([low], dtype=torch.float64), "squared")
    expected = -9000 + np.log(np.exp([0.0, -1.0, -2.0]).cumsum() / [1, 2, 3])
    np.testing.assert_allclose(means[0], expected, rtol=1e-15)


@FORMS
def test_equal_values_keep_their_bits_or_nearly(form):
    means, distances = form(torch.full((1, 7), -np.log(7), dtype=torch.float64), "squared")
    torch.testing.assert_close(means, torch.full_like(means, -np.log(7)), rtol=1e-15, atol=0)
    assert distances.max().item() < 1e-30


@DISTANCES
def test_the_most_mergings_possible_fit_in_the_steps(distance):
    falling = torch.linspace(0, -5, 200, dtype=torch.float64).unsqueeze(0)
    means, _ = prefix_fits(falling, distance)
    np.testing.assert_allclose(means[0].exp(), falling[0].exp().cumsum(0) / torch.arange(1, 201), rtol=1e-12)
