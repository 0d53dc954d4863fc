import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.errors import InputError
from onepeak.metrics.functional import expected_calibration_error
from onepeak.posterior import reliability


def sampled(seed, rows, num_classes):
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
    log_probs, labels = sampled(seed, 30, num_classes)
    found = reliability(log_probs, labels, num_bins=num_bins)
    confidence, cumulative = [], []
    for probs, label in zip(log_probs.exp().tolist(), labels.tolist(), strict=True):
        confidence.append((max(probs), probs.index(max(probs)) == label))
        cumulative += [(sum(probs[: k + 1]), label <= k) for k in range(num_classes - 1)]
    for bins, statements in ((found.confidence, confidence), (found.cumulative, cumulative)):
        assert [each.high - each.low for each in bins] == pytest.approx([1 / num_bins] * len(bins))
        values = [value for each in bins for value in (each.low, each.count, each.stated, each.happened)]
        assert values == pytest.approx([value for row in slow_bins(statements, num_bins) for value in row])


@given(st.integers(0, 2**31), st.integers(2, 6))
def test_the_error_of_the_mode_is_the_expected_calibration_error(seed, num_classes):
    log_probs, labels = sampled(seed, 50, num_classes)
    expected = expected_calibration_error(log_probs, labels, num_bins=10)
    assert reliability(log_probs, labels, num_bins=10).confidence_error == pytest.approx(expected.item())


@given(st.integers(0, 2**31), st.integers(0, 20), st.integers(1, 8))
def test_the_sum_of_two_parts_is_the_whole(seed, first, num_bins):
    log_probs, labels = sampled(seed, 20, 4)
    one = reliability(log_probs[:first], labels[:first], num_bins=num_bins)
    other = reliability(log_probs[first:], labels[first:], num_bins=num_bins)
    whole, found = reliability(log_probs, labels, num_bins=num_bins), one + other
    for ours, expected in ((found.confidence, whole.confidence), (found.cumulative, whole.cumulative)):
        assert [(each.low, each.high, each.count) for each in ours] == [
            (each.low, each.high, each.count) for each in expected
        ]
        for name in ("stated", "happened"):
            assert [getattr(each, name) for each in ours] == pytest.approx([getattr(each, name) for each in expected])


def test_true_posteriors_are_reliable_and_sharpened_ones_are_not():
    """With 20,000 samples a bin's share is known to about 0.01."""
    log_probs, labels = sampled(0, 20_000, 5)
    true, sharp = (reliability(each, labels) for each in (log_probs, (3 * log_probs).log_softmax(-1)))
    assert true.confidence_error < 0.02 < 0.1 < sharp.confidence_error
    gaps = [[abs(each.stated - each.happened) for each in found.cumulative] for found in (true, sharp)]
    assert max(gaps[0]) < 0.03 < 0.1 < max(gaps[1])


def test_all_on_one_label_falls_into_the_last_bin():
    (only,) = reliability(torch.tensor([[0.0, -torch.inf]]), torch.tensor([0])).confidence
    assert (only.count, only.stated, only.happened) == (1, 1.0, 1.0)


def test_without_samples_the_error_is_not_defined():
    nothing = reliability(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64))
    assert nothing.confidence == nothing.cumulative == ()
    assert nothing.confidence_error != nothing.confidence_error  # NaN


@pytest.mark.bad_input
def test_parts_with_other_bins_cannot_be_added():
    log_probs, labels = sampled(0, 5, 3)
    with pytest.raises(InputError, match="`num_bins` must be the same to add reliabilities, got 15 and 4"):
        reliability(log_probs, labels) + reliability(log_probs, labels, num_bins=4)


@pytest.mark.bad_input
def test_bad_input_is_named():
    with pytest.raises(InputError, match="`log_probs` must be log-probabilities"):
        reliability(torch.zeros(2, 3), torch.tensor([0, 1]))
    with pytest.raises(InputError, match="`num_bins` must be an integer >= 1, got 0"):
        reliability(torch.zeros(2, 3).log_softmax(-1), torch.tensor([0, 1]), num_bins=0)
