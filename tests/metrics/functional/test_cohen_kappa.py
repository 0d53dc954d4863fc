import warnings

import pytest
import sklearn.metrics
import torch
from hypothesis import given

from metrics.label_pairs import pairs_of_labels, tensors
from onepeak.metrics.functional import quadratic_weighted_kappa, weighted_kappa

PAIRS = pairs_of_labels(min_size=2)
PREDICTED, LABELS = torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2])


@pytest.mark.parametrize("weighting", ["none", "linear", "quadratic"])
@given(pairs=PAIRS)
def test_scikit_learn_agrees(weighting, pairs):
    predicted, labels = tensors(pairs)
    with warnings.catch_warnings():  # where the value is undefined
        warnings.simplefilter("ignore")
        theirs = sklearn.metrics.cohen_kappa_score(
            labels, predicted, weights=None if weighting == "none" else weighting, labels=range(7)
        )
    got = weighted_kappa(predicted, labels, num_classes=7, weighting=weighting).item()
    assert got == pytest.approx(float(theirs), abs=1e-12, nan_ok=True)


@given(pairs=PAIRS)
def test_names_powers_and_tables_say_the_same(pairs):
    predicted, labels = tensors(pairs)
    distances = (torch.arange(7) - torch.arange(7).unsqueeze(-1)).abs().float()
    for name, power in (("linear", 1), ("quadratic", 2.0)):
        named = weighted_kappa(predicted, labels, num_classes=7, weighting=name).item()
        for weighting in (power, distances**power, 10 * distances**power):
            same = weighted_kappa(predicted, labels, num_classes=7, weighting=weighting).item()
            assert same == pytest.approx(named, rel=1e-6, abs=1e-6, nan_ok=True)
    assert quadratic_weighted_kappa(predicted, labels, num_classes=7).item() == pytest.approx(named, nan_ok=True)


@pytest.mark.bad_input
def test_a_weighting_that_is_none_is_refused_with_what_is_allowed():
    def kappa(weighting):
        return weighted_kappa(PREDICTED, LABELS, num_classes=3, weighting=weighting)

    with pytest.raises(ValueError, match=r"Unknown `weighting` 'linaer'\. Did you mean 'linear'\?"):
        kappa("linaer")
    with pytest.raises(ValueError, match="`weighting` must be a finite number > 0, got 0"):
        kappa(0)
    with pytest.raises(ValueError, match=r"`weighting` must have shape \(3, 3\), got \(2, 2\)"):
        kappa(torch.zeros(2, 2))
    with pytest.raises(ValueError, match="`weighting` must be finite and >= 0, got -1"):
        kappa(torch.tensor([[0.0, -1, 1], [1, 0, 1], [1, 1, 0]]))
    with pytest.raises(ValueError, match="`weighting` must be zero on its diagonal, where both labels agree"):
        kappa(torch.ones(3, 3))
    with pytest.raises(ValueError, match="`predicted` must be integers from 0 to 2, got 3"):
        weighted_kappa(torch.tensor([3]), torch.tensor([0]), num_classes=3)
