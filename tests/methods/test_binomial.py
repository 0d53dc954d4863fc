import pytest
import torch
from dlordinal.output_layers import BinomialLayer
from scipy.stats import binom

from onepeak.methods.counts import Binomial, binomial_scores


def test_the_posterior_is_scipys_binomial():
    outputs = torch.linspace(-4, 4, 9, dtype=torch.float64).unsqueeze(-1)
    expected = torch.from_numpy(binom.logpmf(range(6), 5, outputs.sigmoid().numpy()))
    torch.testing.assert_close(Binomial(num_classes=6).log_probs(outputs), expected)


def test_the_posterior_is_that_of_dlordinal():
    layer = BinomialLayer(in_features=3, num_classes=5)
    features = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    got = Binomial(num_classes=5).log_probs(layer.p_layer(features)).exp()
    torch.testing.assert_close(got, layer(features), rtol=1e-5, atol=1e-5)


def test_a_temperature_below_one_makes_it_sharper():
    binomial = Binomial(num_classes=5)
    plain = binomial.log_probs(torch.tensor([[0.3]]))
    binomial.log_temperature.data.fill_(-1.0)
    sharp = binomial.log_probs(torch.tensor([[0.3]]))
    torch.testing.assert_close(sharp, (plain * torch.e).log_softmax(dim=-1))
    assert sharp.max() > plain.max()


def test_scores_of_many_classes_do_not_overflow_and_have_one_peak():
    scores = binomial_scores(torch.tensor([[0.7]]), 2000)
    assert scores.isfinite().all()
    assert scores.argmax().item() == pytest.approx(2000 * torch.tensor(0.7).sigmoid().item(), abs=1)
    assert (scores[0].diff() > 0).sum() == scores.argmax()
