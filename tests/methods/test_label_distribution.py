import math

import pytest
import torch
from scipy.stats import norm
from torch.nn import functional as F

import reference.methods as reference
from onepeak.methods.label_distribution import DistributionAndMean, LabelDistribution


def test_a_loss_worked_by_hand():
    # the target at label 1 is 1 : e^(1/2) : 1, the posterior even, so KL = log 3 - entropy of the target
    low, peak = 1 / (2 + math.exp(0.5)), math.exp(0.5) / (2 + math.exp(0.5))
    expected = math.log(3) + 2 * low * math.log(low) + peak * math.log(peak)
    loss = LabelDistribution(num_classes=3).loss(torch.zeros(1, 3), torch.tensor([1]))
    assert loss.item() == pytest.approx(expected)


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


def test_as_published_firm_and_right_outputs_can_cost_more_than_for_another_label():
    scores = -4.0 * (torch.arange(9.0) - 0).abs().expand(9, 9)  # firmly the first class, in order
    labels = torch.arange(9)
    published = LabelDistribution(num_classes=9, variant="as_published").loss(scores, labels, reduction="none")
    corrected = LabelDistribution(num_classes=9).loss(scores, labels, reduction="none")
    assert published.argmin().item() != 0
    assert corrected.argmin().item() == 0


def test_it_is_the_divergence_of_pytorch():
    scores = torch.randn(40, 12, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(40) % 12
    ld = LabelDistribution(num_classes=12, variance=2.0)
    targets = torch.tensor(norm.pdf(torch.arange(12).numpy(), loc=labels.numpy()[:, None], scale=math.sqrt(2.0)))
    targets = (targets / targets.sum(dim=-1, keepdim=True)).float()
    expected = F.kl_div(scores.log_softmax(dim=-1), targets, reduction="batchmean")
    torch.testing.assert_close(ld.loss(scores, labels), expected)


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


def test_a_loss_with_the_mean_worked_by_hand():
    weights = [1.0, math.exp(-0.5)]
    target = [weight / sum(weights) for weight in weights]
    divergence = sum(q * math.log(q / 0.5) for q in target)
    got = DistributionAndMean(num_classes=2, mean_weight=3.0).loss(torch.zeros(1, 2), torch.tensor([0]))
    assert got.item() == pytest.approx(divergence + 3.0 * 0.5, rel=1e-6)


def test_without_the_mean_it_is_label_distribution_learning():
    scores, labels = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), torch.arange(6) % 4
    ld = LabelDistribution(num_classes=4, variance=2.0)
    alone = DistributionAndMean(num_classes=4, variance=2.0, mean_weight=0.0)
    torch.testing.assert_close(alone.loss(scores, labels), ld.loss(scores, labels))
