import warnings

import pytest
import scipy.stats
import torch
from hypothesis import given

from metrics.label_pairs import pairs_of_labels, tensors
from onepeak.metrics.functional import kendall_tau, spearman_correlation

ALL = [kendall_tau, spearman_correlation]
PAIRS = pairs_of_labels(min_size=2)


def quietly(function, *args, **kwargs):
    """What another library says, without its warning where the value is undefined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


@given(pairs=PAIRS)
def test_scipy_agrees(pairs):
    predicted, labels = tensors(pairs)
    tau = quietly(scipy.stats.kendalltau, predicted, labels).statistic
    rho = quietly(scipy.stats.spearmanr, predicted, labels).statistic
    expected = [float(tau), float(rho)]
    got = [function(predicted, labels, num_classes=7).item() for function in ALL]
    assert got == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("function", ALL)
def test_where_nothing_varies_the_value_is_nan(function):
    same = torch.tensor([2, 2, 2])
    assert function(same, same, num_classes=4).isnan()
    assert function(same, torch.tensor([0, 1, 2]), num_classes=4).isnan()
    assert function(same[:0], same[:0], num_classes=4).isnan()


def test_a_million_samples_are_exact():
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(70, (1_000_000,), generator=generator)
    predicted = (labels + torch.randint(-5, 6, labels.shape, generator=generator)).clamp(0, 69)
    tau = kendall_tau(predicted, labels, num_classes=70).item()
    assert tau == pytest.approx(scipy.stats.kendalltau(predicted, labels).statistic, rel=1e-12)
    rho = spearman_correlation(predicted, labels, num_classes=70).item()
    assert rho == pytest.approx(scipy.stats.spearmanr(predicted, labels).statistic, rel=1e-9)


@pytest.mark.parametrize("function", ALL)
def test_perfect_agreement_never_rounds_above_one(function):
    values = [function(torch.arange(n), torch.arange(n), num_classes=n).item() for n in range(2, 71)]
    assert max(values) <= 1
    assert min(values) >= 1 - 1e-15
