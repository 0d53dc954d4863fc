import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from onepeak.errors import InputError
from onepeak.metrics.functional import side_order_index
from onepeak.posterior import fit_temperature, is_unimodal, mode, reliability, temper
from onepeak.posterior.calibrate import COLDEST, HOTTEST


def sampled(seed, *, num_classes=6, rows=300, temperature=1.0):
    """Posteriors that were true before they were tempered, and labels drawn from them."""
    generator = torch.Generator().manual_seed(seed)
    true = (2 * torch.randn(rows, num_classes, dtype=torch.float64, generator=generator)).log_softmax(-1)
    labels = true.exp().multinomial(1, generator=generator).squeeze(-1)
    return (true / temperature).log_softmax(-1), labels


def comparisons(values):
    """Which of every two are in which order: -1, 0 or 1."""
    below = values.unsqueeze(-1) < values.unsqueeze(-2)
    return below.int() - below.transpose(-1, -2).int()


@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0, 4.0, 30.0])
def test_the_temperature_is_the_one_scipy_finds(temperature):
    log_probs, labels = sampled(1, temperature=temperature)

    def loss(log_temperature):
        tempered = log_softmax(log_probs.numpy() / math.exp(log_temperature), axis=-1)
        return -tempered[np.arange(len(labels)), labels.numpy()].mean()

    bounds = (math.log(COLDEST), math.log(HOTTEST))
    expected = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-10})
    assert fit_temperature(log_probs, labels) == pytest.approx(math.exp(expected.x), rel=1e-6)


def test_a_sample_of_weight_two_counts_as_two_samples():
    log_probs, labels = sampled(3, rows=50)
    weights = torch.arange(50.0) % 3
    repeated = torch.arange(50).repeat_interleave(weights.long())
    expected = fit_temperature(log_probs[repeated], labels[repeated])
    assert fit_temperature(log_probs, labels, sample_weight=weights) == pytest.approx(expected, rel=1e-9)


def test_where_the_mode_is_always_right_the_coldest_is_best():
    log_probs, _ = sampled(4)
    assert fit_temperature(log_probs, mode(log_probs)) == COLDEST


def test_where_chance_does_better_the_hottest_is_best():
    log_probs, _ = sampled(4)
    assert fit_temperature(log_probs, log_probs.argmin(-1)) == HOTTEST


def test_scores_of_ten_thousand_and_classes_without_probability_do_no_harm():
    log_probs = torch.tensor([[0.0, -1e4, -torch.inf], [0.0, -1e4, -torch.inf]])
    assert fit_temperature(log_probs, torch.tensor([0, 1])) == pytest.approx(HOTTEST)
    # of two classes at log-odds 4, one sample in four is the second: the odds of 3 need T = 4 / log 3
    log_probs = torch.tensor([[4.0, 0.0, -torch.inf]] * 4).log_softmax(-1)
    assert fit_temperature(log_probs, torch.tensor([0, 0, 0, 1])) == pytest.approx(4 / math.log(3), rel=1e-6)


def transformed(log_probs, temperature):
    """By the arithmetic that compilers and exporters need, which `torch.func` asks for too."""
    return torch.func.vmap(lambda row: temper(row, temperature))(log_probs)


@pytest.mark.parametrize("tempering", [temper, transformed])
@given(
    st.integers(0, 2**31),
    st.integers(2, 70),
    st.floats(0.05, 1000).filter(lambda temperature: temperature != 1),  # there even scores come back as they are
    st.sampled_from([torch.float32, torch.float64]),
)
def test_tempering_keeps_the_order_bit_for_bit(tempering, seed, num_classes, temperature, dtype):
    generator = torch.Generator().manual_seed(seed)
    log_probs = (4 * torch.randn(10, num_classes, dtype=dtype, generator=generator)).log_softmax(-1)
    log_probs[:, -1] = torch.nextafter(log_probs[:, 0], torch.tensor(-torch.inf, dtype=dtype))  # next to equal
    log_probs[:2, num_classes // 2] = log_probs[:2, 0]  # equal
    log_probs[3, 1] = -torch.inf
    tempered = tempering(log_probs, temperature)
    assert tempered.dtype == dtype
    assert torch.equal(comparisons(tempered), comparisons(log_probs))
    assert torch.equal(is_unimodal(tempered), is_unimodal(log_probs))
    label = mode(log_probs)
    assert torch.equal(mode(tempered), label)
    assert torch.equal(side_order_index(tempered, label), side_order_index(log_probs, label))
    torch.testing.assert_close(tempered, (log_probs / temperature).log_softmax(-1), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(tempered.exp().sum(-1), torch.ones(10, dtype=dtype))


def test_rounding_alone_would_make_ties():
    """What `temper` mends: at this temperature float32 cannot tell the tails of a 70-class posterior apart."""
    log_probs = (-1e-4 * torch.arange(70.0)).log_softmax(-1)
    assert not is_unimodal((log_probs / 1000).log_softmax(-1))
    assert is_unimodal(temper(log_probs, 1000))
    assert is_unimodal(transformed(log_probs.unsqueeze(0), 1000))


@pytest.mark.parametrize("tempering", [temper, transformed])
@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e-45, 1e-6, 1e300])
def test_the_most_extreme_temperatures_keep_the_order_too(tempering, temperature):
    for dtype in (torch.float32, torch.float64):
        log_probs = (4 * torch.randn(5, 70, dtype=dtype)).log_softmax(-1)
        log_probs[0, 3] = -torch.inf
        tempered = tempering(log_probs, temperature)
        assert torch.equal(comparisons(tempered), comparisons(log_probs))
        torch.testing.assert_close(tempered.exp().sum(-1), torch.ones(5, dtype=dtype), rtol=1e-4, atol=0)


def test_gradients_are_those_of_a_tempered_softmax():
    scores = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda each: temper(each, 2.5), scores)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("log_probs", "labels", "message"),
    [
        (torch.zeros(2, 3), torch.tensor([0, 1]), "`log_probs` must be log-probabilities, whose exponentials sum to 1"),
        (torch.full((2, 3), torch.nan), torch.tensor([0, 1]), "`log_probs` must not be NaN, got NaN in 2 samples"),
        (torch.zeros(2, 1), torch.tensor([0, 0]), r"`log_probs` must have at least 2 numbers on its last axis"),
        (torch.zeros(2, 3).log_softmax(-1), torch.tensor([0, 3]), "`labels` must be integers from 0 to 2, got 3"),
        (torch.zeros(0, 3), torch.tensor([], dtype=torch.int64), "`labels` must hold at least one sample, got none"),
        (
            torch.tensor([[1.0, 0.0], [0.5, 0.5]]).log(),
            torch.tensor([1, 1]),
            r"`log_probs` must give every true label a probability above 0, got 1 samples with 0: no temperature",
        ),
    ],
)
def test_what_no_temperature_can_be_fitted_to_is_refused(log_probs, labels, message):
    with pytest.raises(InputError, match=message):
        fit_temperature(log_probs, labels)


def sampled_reliability_bins(seed, rows, num_classes):
    generator = torch.Generator().manual_seed(seed)
    log_probs = torch.randn(rows, num_classes, dtype=torch.float64, generator=generator).log_softmax(-1)
    return log_probs, log_probs.exp().multinomial(1, generator=generator).squeeze(-1)


def slow_bins(statements, num_bins):
    """By the definition: each statement is put into its bin, one by one."""
    bins = {}
    for stated, happened in statements:
        bins.setdefault(min(int(stated * num_bins), num_bins - 1), []).append((stated, happened))
    return [
        (
            place / num_bins,
            len(rows),
            sum(each[0] for each in rows) / len(rows),
            sum(each[1] for each in rows) / len(rows),
        )
        for place, rows in sorted(bins.items())
    ]


@given(st.integers(0, 2**31), st.integers(2, 6), st.integers(1, 12))
def test_bins_hold_what_belongs_into_them(seed, num_classes, num_bins):
    log_probs, labels = sampled_reliability_bins(seed, 30, num_classes)
    found = reliability(log_probs, labels, num_bins=num_bins)
    confidence, cumulative = [], []
    for probs, label in zip(log_probs.exp().tolist(), labels.tolist(), strict=True):
        confidence.append((max(probs), probs.index(max(probs)) == label))
        cumulative += [(sum(probs[: k + 1]), label <= k) for k in range(num_classes - 1)]
    for bins, statements in ((found.confidence, confidence), (found.cumulative, cumulative)):
        assert [each.high - each.low for each in bins] == pytest.approx([1 / num_bins] * len(bins))
        values = [value for each in bins for value in (each.low, each.count, each.stated, each.happened)]
        assert values == pytest.approx([value for row in slow_bins(statements, num_bins) for value in row])


@given(st.integers(0, 2**31), st.integers(0, 20), st.integers(1, 8))
def test_the_sum_of_two_parts_is_the_whole(seed, first, num_bins):
    log_probs, labels = sampled_reliability_bins(seed, 20, 4)
    one = reliability(log_probs[:first], labels[:first], num_bins=num_bins)
    other = reliability(log_probs[first:], labels[first:], num_bins=num_bins)
    whole, found = reliability(log_probs, labels, num_bins=num_bins), one + other
    for ours, expected in ((found.confidence, whole.confidence), (found.cumulative, whole.cumulative)):
        assert [(each.low, each.high, each.count) for each in ours] == [
            (each.low, each.high, each.count) for each in expected
        ]
        for name in ("stated", "happened"):
            assert [getattr(each, name) for each in ours] == pytest.approx([getattr(each, name) for each in expected])


@pytest.mark.bad_input
def test_parts_with_other_bins_cannot_be_added():
    log_probs, labels = sampled_reliability_bins(0, 5, 3)
    with pytest.raises(InputError, match="`num_bins` must be the same to add reliabilities, got 15 and 4"):
        reliability(log_probs, labels) + reliability(log_probs, labels, num_bins=4)
