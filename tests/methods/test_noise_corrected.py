import pytest
import torch

import onepeak
from onepeak.errors import InputError
from onepeak.methods import NoiseCorrected
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.mean_variance import MeanVariance

NOISE = torch.tensor([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]], dtype=torch.float64)


def test_on_average_over_noisy_labels_it_is_the_loss_on_the_clean_label():
    base = MeanVariance(num_classes=3)
    corrected, outputs = NoiseCorrected(base, NOISE), torch.randn(3, 3, dtype=torch.float64)
    expected = base.loss(outputs, torch.arange(3), reduction="none")
    torch.testing.assert_close(corrected.loss(outputs, NOISE, reduction="none"), expected)
    assert torch.equal(corrected.predict(outputs), base.predict(outputs))


def test_by_name_a_share_of_the_labels_is_that_of_a_neighbour():
    inverse = onepeak.method("noise-corrected", num_classes=4, rate=0.2).inverse.values.inverse()
    expected = [[0.9, 0.1, 0, 0], [0.1, 0.8, 0.1, 0], [0, 0.1, 0.8, 0.1], [0, 0, 0.1, 0.9]]
    torch.testing.assert_close(inverse, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("base", "noise", "message"),
    [
        (CrossEntropy(3), torch.eye(3) * 0.5, "`noise` must be distributions"),
        (CrossEntropy(3), torch.eye(2), r"`noise` must have 3 rows, one per class, got 2\."),
        (CrossEntropy(2), torch.full((2, 2), 0.5), "`noise` must be invertible"),
        (onepeak.method("wk", num_classes=3), NOISE, "`base` must have a loss of each sample alone, got WeightedKappa"),
    ],
)
def test_noise_that_cannot_be_corrected_is_refused(base, noise, message):
    with pytest.raises(InputError, match=message):
        NoiseCorrected(base, noise)
