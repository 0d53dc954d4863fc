import numpy as np
import pytest
from scipy.special import rel_entr

from onepeak.report.figures.truth import Distance, divergence, interactive_truth, printed_truth, variation
from onepeak.report.palette import styles


def drawn(seed):
    rng = np.random.default_rng(seed)
    return np.log(rng.dirichlet(np.ones(6), size=20))


def test_the_divergence_is_that_of_scipy_and_zero_from_itself():
    truth, other = drawn(0), drawn(1)
    assert divergence(truth, other) == pytest.approx(rel_entr(np.exp(truth), np.exp(other)).sum(axis=1))
    assert divergence(truth, truth).tolist() == [0] * 20


def test_what_cannot_be_costs_nothing_and_what_is_excluded_costs_everything():
    with np.errstate(divide="ignore"):
        truth, other = np.log([[0.0, 1.0]]), np.log([[1.0, 0.0]])
    assert divergence(truth, np.log([[0.5, 0.5]])) == pytest.approx([np.log(2)])
    assert divergence(truth, other).tolist() == [np.inf]


def test_the_variation_is_the_largest_difference_over_all_sets_of_classes():
    truth, other = np.exp(drawn(2)), np.exp(drawn(3))
    largest = np.where(truth > other, truth - other, 0).sum(axis=1)
    assert variation(np.log(truth), np.log(other)) == pytest.approx(largest)


def test_every_method_has_a_bar_at_its_mean_and_a_dot_a_run():
    distances = {"elb": Distance(divergence=np.array([0.1, 0.3]), variation=np.array([0.2, 0.4]))}
    looks = styles({"elb": "elb"})
    bar, dots = interactive_truth(distances, looks).data
    assert list(bar.x) == pytest.approx([0.3])
    assert list(dots.x) == [0.2, 0.4]
    axes = printed_truth(distances, looks).axes[0]
    assert axes.patches[0].get_width() == pytest.approx(0.3)
