import numpy as np
import pytest
import torch
from dlordinal.soft_labelling import get_beta_soft_labels, get_triangular_soft_labels
from scipy import stats

from onepeak.errors import InputError
from onepeak.methods.soft_by_interval import beta, triangular


@pytest.mark.parametrize("num_classes", [3, 5, 9])
@pytest.mark.parametrize("outside", [0.01, 0.05, 0.1])
def test_triangular_targets_are_those_of_dlordinal_but_for_the_end_classes(num_classes, outside):
    theirs = get_triangular_soft_labels(num_classes, alpha2=outside)
    np.testing.assert_allclose(triangular(num_classes, outside=outside).targets[1:-1], theirs[1:-1], atol=1e-5)


@pytest.mark.parametrize("outside", [0.01, 0.1, 0.3])
def test_the_share_outside_the_label_is_what_was_asked_for(outside):
    targets = triangular(9, outside=outside).targets
    assert targets[0, 0].item() == pytest.approx(1 - outside)
    assert targets[4, 4].item() == pytest.approx(1 - 2 * outside)
    assert targets[8, 8].item() == pytest.approx(1 - outside)


@pytest.mark.parametrize("num_classes", [2, 5, 30])
@pytest.mark.parametrize("deviation", [0.3, 0.5, 0.75])
def test_beta_targets_are_the_integrals_of_scipys_density(num_classes, deviation):
    places = (np.arange(num_classes) + 0.5) / num_classes
    total = np.maximum(places * (1 - places) / (deviation / num_classes) ** 2 - 1, 1 / np.minimum(places, 1 - places))
    edges = np.linspace(0, 1, num_classes + 1)
    expected = np.diff(stats.beta(places * total, (1 - places) * total).cdf(edges[:, None]), axis=0).T
    got = beta(num_classes, deviation=deviation).targets
    np.testing.assert_allclose(got, expected, atol=2e-3)


def test_beta_targets_are_near_dlordinals_table():
    """Which has a hand-made pair of parameters for every class, and ends at 14 classes; ours has a rule."""
    for num_classes in (3, 5, 7):
        np.testing.assert_allclose(beta(num_classes).targets, get_beta_soft_labels(num_classes), atol=0.1)
    np.testing.assert_allclose(beta(5).targets[1:-1], get_beta_soft_labels(5)[1:-1], atol=1e-3)


@pytest.mark.parametrize("num_classes", [2, 5, 12, 70])
def test_the_widest_beta_still_has_its_peak_at_the_label(num_classes):
    targets = beta(num_classes, deviation=0.79).targets
    assert targets.argmax(dim=-1).tolist() == list(range(num_classes))


@pytest.mark.parametrize("make", [triangular, beta])
def test_the_label_is_the_peak_and_the_table_is_the_same_from_both_ends(make):
    targets = make(12).targets
    assert targets.argmax(dim=-1).tolist() == list(range(12))
    torch.testing.assert_close(targets.flip(0, 1), targets)


@pytest.mark.bad_input
def test_settings_out_of_range_are_refused():
    with pytest.raises(InputError, match=r"`outside` must be a finite number > 0 and < 0\.5, got 0\.5\."):
        triangular(4, outside=0.5)
    with pytest.raises(InputError, match=r"`deviation` must be a finite number > 0 and < 0\.8, got 1\.0\."):
        beta(4, deviation=1.0)
