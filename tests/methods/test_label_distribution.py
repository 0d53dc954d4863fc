import pytest
import torch
from scipy.stats import norm
from torch.nn import functional as F

import reference.methods as reference
from onepeak.methods.label_distribution import DistributionAndMean, LabelDistribution


@pytest.mark.parametrize("variance", [0.25, 1.0, 9.0])
@pytest.mark.parametrize("variant", ["corrected", "as_published"])
def test_targets_agree_with_the_slow_reference_at_every_variance(variant, variance):
    ld = LabelDistribution(num_classes=22, variance=variance, variant=variant)
    targets = ld.log_targets(torch.arange(22), torch.float64).exp()
    for label in range(22):
        expected = reference.gaussian_target(label, 22, variance=variance, published=variant == "as_published")
        assert targets[label].tolist() == pytest.approx(expected, abs=1e-12)


def test_the_target_of_70_classes_peaks_like_a_gaussian():
    targets = LabelDistribution(num_classes=70).log_targets(torch.tensor([35]), torch.float64).exp()[0]
    assert targets.max().item() == pytest.approx(0.399, abs=5e-4)
    assert targets.tolist() == pytest.approx(norm.pdf(range(70), loc=35), abs=1e-8)  # far from both ends


def test_as_published_the_target_of_70_classes_is_nearly_even():
    ld = LabelDistribution(num_classes=70, variant="as_published")
    targets = ld.log_targets(torch.tensor([35]), torch.float64).exp()[0]
    assert targets.max().item() == pytest.approx(0.0209, abs=5e-5)
    assert targets.min().item() == pytest.approx(0.0141, abs=5e-5)


def test_the_loss_is_zero_at_its_target_and_nowhere_below():
    labels = torch.arange(9)
    for variant in ("corrected", "as_published"):
        ld = LabelDistribution(num_classes=9, variant=variant)
        targets = ld.log_targets(labels, torch.float64)
        losses = ld.loss(targets, labels, reduction="none")
        torch.testing.assert_close(losses, torch.zeros(9, dtype=torch.float64))
        moved = targets + 0.1 * torch.randn(9, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        assert (ld.loss(moved, labels, reduction="none") > 0).all()


def test_a_small_variance_becomes_cross_entropy():
    scores = torch.randn(40, 12, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(40) % 12
    loss = LabelDistribution(num_classes=12, variance=1e-3).loss(scores, labels)
    torch.testing.assert_close(loss, F.cross_entropy(scores, labels))


def test_without_the_mean_it_is_label_distribution_learning():
    scores, labels = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), torch.arange(6) % 4
    ld = LabelDistribution(num_classes=4, variance=2.0)
    alone = DistributionAndMean(num_classes=4, variance=2.0, mean_weight=0.0)
    torch.testing.assert_close(alone.loss(scores, labels), ld.loss(scores, labels))
