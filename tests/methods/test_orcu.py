import math

import pytest
import torch

import onepeak
from reference.constraints import barrier

SCORES = torch.tensor([[0.0, 1.0, 0.5]], dtype=torch.float64)


def test_the_loss_is_the_value_worked_by_hand():
    # label 1: targets 1/e, 1, 1/e over their sum; gaps -1 and -1/2, both in order by more than 1/100
    target = [1 / (math.e + 2), math.e / (math.e + 2), 1 / (math.e + 2)]
    log_probs = SCORES.log_softmax(-1)[0].tolist()
    divergence = sum(q * (math.log(q) - log_p) for q, log_p in zip(target, log_probs, strict=True))
    expected = divergence + barrier(-1, 10) + barrier(-0.5, 10)
    orcu = onepeak.method("orcu", num_classes=3)
    assert orcu.loss(SCORES, torch.tensor([1])).item() == pytest.approx(expected)


def test_it_is_sord_under_a_barrier_that_stays_as_it_is():
    orcu, composed = onepeak.method("orcu", num_classes=3, t=4.0), onepeak.method("sord+elb", num_classes=3, t=4.0)
    assert orcu.loss(SCORES, torch.tensor([2])) == composed.loss(SCORES, torch.tensor([2]))
    orcu.tighten()
    assert orcu.constraint.t.item() == 4.0
