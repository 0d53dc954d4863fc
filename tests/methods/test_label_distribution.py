import pytest
import torch

import reference.methods as reference
from onepeak.methods.label_distribution import LabelDistribution


@pytest.mark.parametrize("variance", [0.25, 1.0, 9.0])
@pytest.mark.parametrize("variant", ["corrected", "as_published"])
def test_targets_agree_with_the_slow_reference_at_every_variance(variant, variance):
    ld = LabelDistribution(num_classes=22, variance=variance, variant=variant)
    targets = ld.log_targets(torch.arange(22), torch.float64).exp()
    for label in range(22):
        expected = reference.gaussian_target(label, 22, variance=variance, published=variant == "as_published")
        assert targets[label].tolist() == pytest.approx(expected, abs=1e-12)


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
