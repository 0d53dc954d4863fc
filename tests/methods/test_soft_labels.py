import math

import pytest
import torch

from onepeak.errors import InputError
from onepeak.methods.soft_labels import SoftLabels, distances, mixed

TABLE = torch.tensor([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]])
SCORES = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()


def test_the_loss_is_the_value_worked_by_hand():
    soft = SoftLabels(TABLE)
    expected = 0.7 * math.log(0.7 / 0.2) + 0.2 * math.log(0.2 / 0.5) + 0.1 * math.log(0.1 / 0.3)
    assert soft.loss(SCORES, torch.tensor([0])).item() == pytest.approx(expected, rel=1e-6)
    assert soft.loss(SCORES, torch.tensor([2])).item() == pytest.approx(-math.log(0.3))  # classes without mass count 0


def test_the_targets_themselves_cost_nothing():
    soft = SoftLabels(TABLE[:2, :2] / TABLE[:2, :2].sum(dim=-1, keepdim=True))
    torch.testing.assert_close(soft.loss(soft.targets.log(), torch.arange(2)).item(), 0.0)


def test_the_loss_is_cross_entropy_with_soft_targets_less_their_entropy():
    scores = torch.randn(6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    labels = torch.arange(6) % 3
    targets = TABLE.double()[labels]
    entropy = -targets.xlogy(targets).sum(dim=-1)
    expected = torch.nn.functional.cross_entropy(scores, targets, reduction="none") - entropy
    torch.testing.assert_close(SoftLabels(TABLE.double()).loss(scores, labels, reduction="none"), expected)


def test_a_mix_keeps_a_share_of_the_label_itself():
    got = mixed(TABLE, 0.5)
    torch.testing.assert_close(got[0], torch.tensor([0.85, 0.1, 0.05]))
    assert torch.equal(mixed(TABLE, 1.0), TABLE)


def test_the_targets_keep_their_digits_when_the_method_is_cast_and_are_not_saved():
    soft = SoftLabels(TABLE.double())
    assert soft.bfloat16().targets.dtype == torch.float64
    assert torch.equal(soft.targets, TABLE.double())
    assert "targets" not in soft.state_dict()
    assert soft.to("meta").targets.device.type == "meta"


def test_distances_are_those_of_classes_from_labels():
    assert distances(3).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], r"`targets` must be a floating-point tensor, got list\."),
        (torch.eye(3).long(), r"`targets` must be a floating-point tensor, got torch\.int64\."),
        (torch.ones(2, 3) / 3, r"`targets` must have one row and one column per class, got shape \(2, 3\)\."),
        (torch.eye(3) * 0.9, r"`targets` must be distributions: every row non-negative with a sum of 1\."),
        (torch.tensor([[1.5, -0.5], [0.0, 1.0]]), r"`targets` must be distributions"),
        (torch.full((2, 2), torch.nan), r"`targets` must be distributions"),
        (torch.ones(1, 1), r"`num_classes` must be an integer >= 2, got 1\."),
    ],
)
def test_a_table_that_is_none_is_refused(targets, message):
    with pytest.raises(InputError, match=message):
        SoftLabels(targets)


@pytest.mark.bad_input
@pytest.mark.parametrize("mix", [0.0, 1.5])
def test_a_mix_that_is_no_share_is_refused(mix):
    with pytest.raises(InputError, match=r"`mix` must be a finite number > 0 and <= 1, got "):
        mixed(TABLE, mix)
