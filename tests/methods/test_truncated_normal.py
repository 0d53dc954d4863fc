import pytest
import torch
from scipy import stats

from onepeak.methods.gaussian import TruncatedNormal


def test_the_posterior_is_that_of_scipys_truncated_normal():
    outputs, deviation = torch.tensor([[-1.2], [0.1], [0.9]], dtype=torch.float64), 1.5
    normal = TruncatedNormal(num_classes=5, deviation=deviation)
    for output, probs in zip(outputs[:, 0].tolist(), normal.log_probs(outputs).exp(), strict=True):
        mean = (output + 1) * 2
        law = stats.truncnorm((-0.5 - mean) / deviation, (4.5 - mean) / deviation, mean, deviation)
        assert probs.tolist() == pytest.approx([law.cdf(k + 0.5) - law.cdf(k - 0.5) for k in range(5)])


def test_the_loss_is_the_distance_that_probability_moves_to_the_label():
    normal, output = TruncatedNormal(num_classes=4), torch.tensor([[0.3]], dtype=torch.float64)
    probs = normal.log_probs(output).exp()[0].tolist()
    assert normal.loss(output, torch.tensor([1])).item() == pytest.approx(probs[0] + probs[2] + 2 * probs[3])
    squared = TruncatedNormal(num_classes=4, power=2.0).loss(output, torch.tensor([1]))
    assert squared.item() == pytest.approx(probs[0] + probs[2] + 4 * probs[3])
