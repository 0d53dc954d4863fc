import numpy as np
import pytest
import torch

import onepeak
from onepeak.errors import InputError
from onepeak.training.imbalance import class_weights, logit_shift, smoothed_counts

LABELS = np.repeat(np.arange(4), [1, 10, 0, 5])
PRIORS = torch.tensor([1, 10, 0.5, 5], dtype=torch.float64) / 16.5


def test_a_class_borrows_samples_from_its_neighbours_by_a_gaussian():
    kernel = np.exp(-np.array([0, 1, 4]) / 8)
    expected = (1 * kernel[1] + 10 * kernel[0] + 0 * kernel[1] + 5 * kernel[2]) / (kernel @ [1, 2, 1])
    assert smoothed_counts(np.array([1, 10, 0, 5]))[1] == pytest.approx(expected)
    assert smoothed_counts(np.full(9, 7)).tolist() == pytest.approx([7] * 9)


def test_weights_of_the_smoothed_distribution_have_a_mean_of_one_and_are_less_extreme():
    balanced, smoothed = (np.array(class_weights(wanted, LABELS, 4)) for wanted in ("balanced", "lds"))
    assert smoothed[LABELS].mean() == pytest.approx(1)
    assert smoothed[0] > smoothed[1]
    assert smoothed.max() / smoothed.min() < balanced.max() / balanced.min()


@pytest.mark.parametrize("name", ["ce", "elb", "peak", "slopes", "smooth-mv+elb", "sord"])
def test_class_scores_rise_by_the_log_priors(name):
    method = onepeak.method(name, num_classes=4).double()
    outputs = torch.randn(5, method.num_outputs, dtype=torch.float64)
    shift = logit_shift(method, LABELS, 2.0).double()
    got = method.class_scores(outputs + shift).log_softmax(-1)
    expected = (method.class_scores(outputs) + 2 * PRIORS.log()).log_softmax(-1)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["poisson", "corn", "ren", "ecoc", "regression"])
def test_methods_without_linear_class_scores_are_refused(name):
    with pytest.raises(InputError, match="`logit_adjustment` needs a method whose class scores are linear"):
        logit_shift(onepeak.method(name, num_classes=4), LABELS, 1.0)
