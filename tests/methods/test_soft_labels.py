import numpy as np
import pytest
import torch
from scipy import stats

from onepeak.errors import InputError
from onepeak.methods.soft_labels import (
    SoftLabels,
    beta,
    binomial_labels,
    mixed,
    poisson_labels,
    triangular,
)
from onepeak.posterior import is_unimodal

TABLE = torch.tensor([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]])


def test_a_mix_keeps_a_share_of_the_label_itself():
    got = mixed(TABLE, 0.5)
    torch.testing.assert_close(got[0], torch.tensor([0.85, 0.1, 0.05]))
    assert torch.equal(mixed(TABLE, 1.0), TABLE)


def test_the_targets_keep_their_digits_when_the_method_is_cast_and_are_not_saved():
    soft = SoftLabels(TABLE.double())
    assert soft.bfloat16().targets.dtype == torch.float64
    assert torch.equal(soft.targets, TABLE.double())
    assert "targets" not in soft.state_dict()
    assert soft.to("meta").targets.device.type == "meta"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], r"`targets` must be a floating-point tensor, got list\."),
        (torch.eye(3).long(), r"`targets` must be a floating-point tensor, got torch\.int64\."),
        (torch.ones(2, 3) / 3, r"`targets` must have one row and one column per class, got shape \(2, 3\)\."),
        (torch.eye(3) * 0.9, r"`targets` must be distributions: every row non-negative with a sum of 1\."),
        (torch.tensor([[1.5, -0.5], [0.0, 1.0]]), r"`targets` must be distributions"),
        (torch.full((2, 2), torch.nan), r"`targets` must be distributions"),
        (torch.ones(1, 1), r"`num_classes` must be an integer >= 2, got 1\."),
    ],
)
def test_a_table_that_is_none_is_refused(targets, message):
    with pytest.raises(InputError, match=message):
        SoftLabels(targets)


@pytest.mark.parametrize("num_classes", [2, 5, 70])
def test_binomial_targets_are_scipys_probabilities(num_classes):
    chances = (np.arange(num_classes)[:, None] + 0.5) / num_classes
    expected = stats.binom.pmf(np.arange(num_classes), num_classes - 1, chances)
    np.testing.assert_allclose(binomial_labels(num_classes).targets, expected, rtol=1e-9)


@pytest.mark.parametrize("num_classes", [2, 5, 70])
def test_poisson_targets_are_scipys_probabilities_among_the_classes(num_classes):
    expected = stats.poisson.pmf(np.arange(num_classes), np.arange(num_classes)[:, None] + 0.5)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(poisson_labels(num_classes).targets, expected, rtol=1e-9)


@pytest.mark.parametrize("make", [binomial_labels, poisson_labels])
def test_the_label_is_the_only_peak(make):
    for num_classes in [2, 5, 70, 300]:
        targets = make(num_classes).targets
        assert targets.argmax(dim=-1).tolist() == list(range(num_classes))
        if num_classes <= 70:  # beyond, far probabilities underflow to ties at 0
            assert is_unimodal(targets.log()).all()


def test_beta_targets_are_the_integrals_of_scipys_density():
    for num_classes in [2, 5, 30]:
        for deviation in [0.3, 0.5, 0.75]:
            places = (np.arange(num_classes) + 0.5) / num_classes
            total = np.maximum(
                places * (1 - places) / (deviation / num_classes) ** 2 - 1, 1 / np.minimum(places, 1 - places)
            )
            edges = np.linspace(0, 1, num_classes + 1)
            expected = np.diff(stats.beta(places * total, (1 - places) * total).cdf(edges[:, None]), axis=0).T
            got = beta(num_classes, deviation=deviation).targets
            np.testing.assert_allclose(got, expected, atol=2e-3)


@pytest.mark.parametrize("make", [triangular, beta])
def test_the_label_is_the_peak_and_the_table_is_the_same_from_both_ends(make):
    targets = make(12).targets
    assert targets.argmax(dim=-1).tolist() == list(range(12))
    torch.testing.assert_close(targets.flip(0, 1), targets)
