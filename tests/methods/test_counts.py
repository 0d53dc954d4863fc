import math

import numpy as np
import pytest
import torch
from scipy import stats

from onepeak.methods.counts import Poisson, binomial_scores
from onepeak.posterior import is_unimodal


def with_rate_of_first_output(num_classes, **settings):
    """A method whose rate is softplus of the first output, so that a test can choose it."""
    po = Poisson(num_classes, **settings)
    with torch.no_grad():
        po.rate_layer.weight.zero_()[0, 0] = 1.0
        po.rate_layer.bias.zero_()
    return po


def outputs_of_rate(rates, num_classes, dtype=torch.float64):
    rates = torch.as_tensor(rates, dtype=torch.float64)
    outputs = torch.zeros(len(rates), num_classes, dtype=torch.float64)
    outputs[:, 0] = rates + (-(-rates).expm1()).log()  # softplus backwards
    return outputs.to(dtype)


@pytest.mark.parametrize("num_classes", [2, 5, 22, 70])
def test_it_is_the_poisson_of_pytorch_and_scipy_cut_off_after_the_last_class(num_classes):
    rates = [1e-3, 0.3, 1.0, 2.5, 10.0, 33.3, 69.0, 200.0]
    log_probs = with_rate_of_first_output(num_classes).log_probs(outputs_of_rate(rates, num_classes))
    counts = torch.arange(num_classes, dtype=torch.float64)
    pytorch = torch.distributions.Poisson(torch.tensor(rates, dtype=torch.float64).unsqueeze(-1)).log_prob(counts)
    torch.testing.assert_close(log_probs, pytorch.log_softmax(dim=-1), rtol=1e-9, atol=1e-9)
    scipy = torch.from_numpy(stats.poisson.logpmf(counts.numpy(), np.array(rates)[:, None]))
    torch.testing.assert_close(log_probs, scipy.log_softmax(dim=-1), rtol=1e-9, atol=1e-9)


def test_as_published_the_posterior_stands_on_its_head():
    po = with_rate_of_first_output(10, variant="as_published")
    probs = po.log_probs(outputs_of_rate([4.0], 10)).exp()[0]
    assert probs[0].item() == pytest.approx(0.24, abs=5e-3)
    assert probs[4].item() == pytest.approx(0.02, abs=5e-3)
    assert probs[9].item() == pytest.approx(0.33, abs=5e-3)
    assert probs.argmin().item() in (3, 4)  # equal at a rate of 4


def test_it_predicts_the_mean_rounded_and_as_published_floored():
    outputs = outputs_of_rate([0.3, 0.7, 2.6], 30)  # so far from the last class the mean is the rate
    assert with_rate_of_first_output(30).predict(outputs).tolist() == [0, 1, 3]
    published = with_rate_of_first_output(30, variant="as_published")
    means = published.log_probs(outputs).exp() @ torch.arange(30.0, dtype=torch.float64)
    assert published.predict(outputs).tolist() == means.floor().long().tolist()
    assert published.decision == "floor_of_mean"


@pytest.mark.parametrize("rate", [0.5, 34.5, 700.3, 5000.5, 9998.7, 20000.5])
def test_ten_thousand_classes_in_float32_are_finite_one_peaked_and_those_of_scipy(rate):
    num_classes = 10_000
    outputs = outputs_of_rate([rate], num_classes, torch.float32)
    rate = math.log1p(math.exp(outputs[0, 0].item())) if rate < 30 else outputs[0, 0].item()  # as float32 has it
    log_probs = with_rate_of_first_output(num_classes).log_probs(outputs)
    assert log_probs.dtype == torch.float32
    assert log_probs.isfinite().all()
    assert is_unimodal(log_probs).all()
    scipy = torch.from_numpy(stats.poisson.logpmf(np.arange(num_classes), rate)).log_softmax(dim=-1)
    torch.testing.assert_close(log_probs[0].double(), scipy, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("raw", [-60.0, -39.0, 3.0, 60.0, 1e3, 1e4])
def test_the_gradient_in_float32_keeps_its_digits_at_any_rate(raw):
    po = with_rate_of_first_output(70)
    slopes = []
    for dtype in (torch.float32, torch.float64):
        outputs = torch.zeros(1, 70, dtype=dtype)
        outputs[0, 0] = raw
        outputs.requires_grad_()
        po.loss(outputs, torch.tensor([69])).backward()
        slopes.append(outputs.grad[0, 0].item())
    assert slopes[0] == pytest.approx(slopes[1], rel=2e-3)
    assert slopes[1] < 0  # the last class always asks for more


def test_scores_of_many_classes_do_not_overflow_and_have_one_peak():
    scores = binomial_scores(torch.tensor([[0.7]]), 2000)
    assert scores.isfinite().all()
    assert scores.argmax().item() == pytest.approx(2000 * torch.tensor(0.7).sigmoid().item(), abs=1)
    assert (scores[0].diff() > 0).sum() == scores.argmax()
