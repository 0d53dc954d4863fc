import torch
from dlordinal.output_layers import PoissonLayer
from scipy.stats import poisson

from onepeak.methods.poisson_rate import PoissonRate


def test_the_posterior_is_scipys_poisson_among_the_classes():
    outputs = torch.linspace(-2, 6, 9, dtype=torch.float64).unsqueeze(-1)
    expected = torch.from_numpy(poisson.logpmf(range(6), torch.nn.functional.softplus(outputs).numpy()))
    torch.testing.assert_close(PoissonRate(num_classes=6).log_probs(outputs), expected.log_softmax(dim=-1))


def test_the_posterior_is_that_of_dlordinal_at_any_temperature():
    layer, ours = PoissonLayer(in_features=3, num_classes=5), PoissonRate(num_classes=5)
    features = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    for log_temperature in (0.0, -0.7, 0.4):
        layer.log_tau.data.fill_(log_temperature)
        ours.log_temperature.data.fill_(log_temperature)
        got = ours.log_probs(layer.lambda_layer(features)).exp()
        torch.testing.assert_close(got, layer(features), rtol=1e-5, atol=1e-5)


def test_one_hundred_classes_do_not_overflow():
    log_probs = PoissonRate(num_classes=100).log_probs(torch.tensor([[70.5]]))
    assert log_probs.isfinite().all()
    assert log_probs.argmax() == 70
