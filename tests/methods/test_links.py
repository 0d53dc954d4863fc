import numpy as np
import pytest
import torch
from scipy import stats

from onepeak.methods.links import cloglog_probs, log_normal, logit_probs, probit_probs

PLACES = torch.tensor([[-1.5, -0.2, 0.4, 2.0], [-6.0, -5.5, 3.0, 7.0]], dtype=torch.float64)
LAWS = [(logit_probs, stats.logistic), (probit_probs, stats.norm), (cloglog_probs, stats.gumbel_l)]


@pytest.mark.parametrize(("link", "law"), LAWS)
def test_the_masses_are_differences_of_scipys_distribution(link, law):
    levels = np.pad(law.cdf(PLACES.numpy()), ((0, 0), (1, 0)))
    expected = np.diff(np.pad(levels, ((0, 0), (0, 1)), constant_values=1.0), axis=1)
    np.testing.assert_allclose(link(PLACES).exp().numpy(), expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("link", [logit_probs, probit_probs, cloglog_probs])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_far_from_every_threshold_the_nearest_class_is_certain_and_the_others_are_finite(link, dtype):
    thresholds = torch.tensor([-1.0, 0.0, 1.0], dtype=dtype)
    for place, nearest in ((-50.0, 0), (-1e4, 0), (50.0, 3), (1e4, 3)):
        log_probs = link((thresholds - place).unsqueeze(0))[0]
        assert log_probs.isfinite().all()
        assert log_probs.argmax() == nearest
        assert log_probs[nearest] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("link", [logit_probs, probit_probs, cloglog_probs])
def test_thresholds_that_coincide_leave_their_class_next_to_nothing(link):
    log_probs = link(torch.tensor([[-0.5, 0.3, 0.3]]))[0]
    assert log_probs.isfinite().all()
    assert log_probs[2].exp() < 1e-11


def test_the_tail_of_the_normal_keeps_its_digits():
    x = torch.tensor([-40.0, -8.0, -1.0, 0.0, 3.0, 9.0], dtype=torch.float64)
    np.testing.assert_allclose(log_normal(x).numpy(), stats.norm.logcdf(x.numpy()), rtol=1e-12)
    torch.testing.assert_close(log_normal(x), torch.special.log_ndtr(x))
