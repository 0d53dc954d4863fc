import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from onepeak.errors import InputError
from onepeak.posterior.conformal import conformal_rank, conformal_threshold
from onepeak.posterior.coverage import coverage_range


def test_where_the_highest_score_is_the_threshold_the_ends_are_roots():
    assert coverage_range(9, 0.1) == pytest.approx((0.05 ** (1 / 9), 0.95 ** (1 / 9)))
    assert coverage_range(4, 0.2, level=0.5) == pytest.approx((0.25**0.25, 0.75**0.25))


@given(count=st.integers(19, 3000), alpha=st.sampled_from([0.05, 0.1, 0.3, 0.5]), level=st.floats(0.01, 0.99))
def test_the_ends_are_the_quantiles_of_scipy(count, alpha, level):
    rank = conformal_rank(count, alpha)
    expected = beta.interval(level, rank, count + 1 - rank)
    assert coverage_range(count, alpha, level=level) == pytest.approx(expected, abs=1e-9)


def test_calibrations_are_within_as_often_as_said():
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(20_000, 24, generator=generator, dtype=torch.float64)
    covered = torch.tensor([conformal_threshold(row, 0.1) for row in scores])  # of scores from 0 to 1, their share
    low, high = coverage_range(24, 0.1)
    assert ((covered > low) & (covered < high)).double().mean().item() == pytest.approx(0.9, abs=0.01)
    assert (covered < low).double().mean().item() == pytest.approx(0.05, abs=0.01)


@pytest.mark.bad_input
def test_too_few_samples_have_no_range():
    with pytest.raises(InputError, match=r"`count` must be >= 9 for `alpha` 0\.1, got 8"):
        coverage_range(8, 0.1)
    with pytest.raises(InputError, match="`level` must be"):
        coverage_range(20, 0.1, level=1.0)
