import numpy as np
import pytest
import torch
from dlordinal.soft_labelling import get_binomial_soft_labels, get_poisson_soft_labels
from scipy import stats

from onepeak.methods.soft_by_count import binomial_labels, poisson_labels
from onepeak.posterior import is_unimodal


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
@pytest.mark.parametrize("num_classes", [2, 5, 70, 300])
def test_the_label_is_the_only_peak(make, num_classes):
    targets = make(num_classes).targets
    assert targets.argmax(dim=-1).tolist() == list(range(num_classes))
    if num_classes <= 70:  # beyond, far probabilities underflow to ties at 0
        assert is_unimodal(targets.log()).all()


def test_why_these_are_not_dlordinals():
    """Its binomial targets peak beside the label, its Poisson targets at two classes and are nearly uniform."""
    assert get_binomial_soft_labels(70)[0].argmax() == 6
    theirs = get_poisson_soft_labels(10)
    assert theirs[3][3] == pytest.approx(theirs[3][4])
    assert theirs[3].max() < 1.3 * theirs[3].min()
    ours = poisson_labels(10).targets[3]
    assert ours.max() > 20 * ours.min()


def test_binomial_targets_are_the_same_from_both_ends_and_poisson_targets_are_not():
    binomial, poisson = binomial_labels(9).targets, poisson_labels(9).targets
    torch.testing.assert_close(binomial.flip(0, 1), binomial)
    assert (poisson.flip(0, 1) - poisson).abs().max() > 0.1
