import numpy as np
import pytest
import torch
from scipy import stats

from onepeak.methods.cumulative_link import (
    CumulativeLink,
    ThresholdHinge,
    cauchit_probs,
    cloglog_probs,
    log_normal,
    logit_probs,
    probit_probs,
)

LINKS = ["logit", "probit", "cloglog", "loglog", "cauchit"]


@pytest.mark.parametrize("link", LINKS)
def test_at_an_output_of_zero_every_class_begins_equally_probable(link):
    for num_classes in [2, 5, 30]:
        log_probs = CumulativeLink(num_classes, link=link).log_probs(torch.zeros(1, 1))
        torch.testing.assert_close(log_probs.exp(), torch.full((1, num_classes), 1 / num_classes), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("link", LINKS)
def test_thresholds_of_a_method_in_half_precision_are_added_up_with_all_digits(link):
    clm = CumulativeLink(70, link=link).bfloat16()
    exact = CumulativeLink(70, link=link).double()
    exact.load_state_dict(clm.state_dict())  # the same rounded parameters
    torch.testing.assert_close(clm.thresholds.double(), exact.thresholds, rtol=1e-5, atol=1e-5)


PLACES = torch.tensor([[-1.5, -0.2, 0.4, 2.0], [-6.0, -5.5, 3.0, 7.0]], dtype=torch.float64)
LAWS = [
    (logit_probs, stats.logistic),
    (probit_probs, stats.norm),
    (cloglog_probs, stats.gumbel_l),
    (cauchit_probs, stats.cauchy),
]


@pytest.mark.parametrize(("link", "law"), LAWS)
def test_the_masses_are_differences_of_scipys_distribution(link, law):
    levels = np.pad(law.cdf(PLACES.numpy()), ((0, 0), (1, 0)))
    expected = np.diff(np.pad(levels, ((0, 0), (0, 1)), constant_values=1.0), axis=1)
    np.testing.assert_allclose(link(PLACES).exp().numpy(), expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("link", [logit_probs, probit_probs, cloglog_probs])
def test_thresholds_that_coincide_leave_their_class_next_to_nothing(link):
    log_probs = link(torch.tensor([[-0.5, 0.3, 0.3]]))[0]
    assert log_probs.isfinite().all()
    assert log_probs[2].exp() < 1e-11


def test_the_tail_of_the_normal_keeps_its_digits():
    x = torch.tensor([-40.0, -8.0, -1.0, 0.0, 3.0, 9.0], dtype=torch.float64)
    np.testing.assert_allclose(log_normal(x).numpy(), stats.norm.logcdf(x.numpy()), rtol=1e-12)
    torch.testing.assert_close(log_normal(x), torch.special.log_ndtr(x))


def test_all_thresholds_bound_the_absolute_error_and_the_next_ones_the_error_rate():
    outputs, labels = torch.linspace(-4, 4, 40).double().repeat_interleave(4).unsqueeze(-1), torch.arange(4).repeat(40)
    for thresholds, most in (("all", 3), ("immediate", 1)):
        hinge = ThresholdHinge(num_classes=4, thresholds=thresholds).double()
        errors = (hinge.predict(outputs) - labels).abs().clamp(max=most)
        assert (hinge.loss(outputs, labels, reduction="none") >= errors).all()
