import math

import pytest
import torch
from torch.nn import functional as F

from onepeak.methods.cross_entropy import CrossEntropy


def test_a_loss_worked_by_hand():
    scores = torch.tensor([[math.log(1), math.log(2), math.log(5)]])  # probabilities 1/8, 2/8, 5/8
    ce = CrossEntropy(num_classes=3)
    assert ce.loss(scores, torch.tensor([1])).item() == pytest.approx(math.log(4))
    assert ce.log_probs(scores).exp().tolist() == [pytest.approx([0.125, 0.25, 0.625])]
    assert ce.predict(scores).tolist() == [2]


def test_it_is_the_cross_entropy_of_pytorch():
    for num_classes in [2, 5, 70]:
        for reduction in ["none", "mean", "sum"]:
            generator = torch.Generator().manual_seed(num_classes)
            scores = torch.randn(30, num_classes, generator=generator)
            labels = torch.randint(num_classes, (30,), generator=generator)
            class_weight = torch.rand(num_classes, generator=generator)
            plain, weighted = CrossEntropy(num_classes), CrossEntropy(num_classes, class_weight=class_weight)
            torch.testing.assert_close(
                plain.loss(scores, labels, reduction=reduction), F.cross_entropy(scores, labels, reduction=reduction)
            )
            torch.testing.assert_close(
                weighted.loss(scores, labels, reduction=reduction),
                F.cross_entropy(scores, labels, weight=class_weight, reduction=reduction),
            )


def test_two_classes_are_binary_cross_entropy_on_the_difference():
    scores = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(50) % 2
    expected = F.binary_cross_entropy_with_logits(scores[:, 1] - scores[:, 0], labels.float())
    torch.testing.assert_close(CrossEntropy(num_classes=2).loss(scores, labels), expected)


def test_the_lowest_of_equal_modes_is_predicted():
    assert CrossEntropy(num_classes=4).predict(torch.tensor([[0.0, 1.0, 0.0, 1.0]])).tolist() == [1]
