"""The first rung of the ladder: the loss of every method on one sample, worked by hand."""

import math
from math import e, exp, log

import pytest
import torch

import onepeak
from onepeak.methods.soft_labels import SoftLabels

PROBS = [0.2, 0.5, 0.3]  # mean 1.1, variance .49; levels .2 and .7
SOFT = [exp(-1) / (1 + 2 * exp(-1)), 1 / (1 + 2 * exp(-1))]  # the ends and the middle of SORD's target for the middle


def of_probs(*probs):
    """Class scores with these probabilities."""
    return [log(prob) for prob in probs]


def of_levels(*levels):
    """Outputs whose sigmoids are these levels."""
    return [log(level / (1 - level)) for level in levels]


def entropy(*probs):
    return -sum(prob * log(prob) for prob in probs)


def ce(scores, label):
    return log(sum(exp(score) for score in scores)) - scores[label]


ENDS, MIDDLE = 1 / (2 + exp(0.5)), exp(0.5) / (2 + exp(0.5))  # a Gaussian around the middle of three classes
FALLING = [exp(-distance) for distance in (0, 1, 2)]

LOSSES = [
    ("ce", {}, of_probs(1 / 8, 2 / 8, 5 / 8), 1, log(4)),
    ("ld", {}, [0, 0, 0], 1, log(3) - entropy(ENDS, MIDDLE, ENDS)),
    ("dldl-v2", {"mean_weight": 3.0}, [0, 0], 0, log(2) - entropy(1 / (1 + e**-0.5), 1 / (1 + e**0.5)) + 3 * 0.5),
    ("mv", {}, of_probs(*PROBS), 0, -log(0.2) + 0.2 * 0.5 * 1.1**2 + 0.05 * 0.49),
    # only the first class is behind the last
    ("mean-residue", {"residue_weight": 3.0}, of_probs(*PROBS), 2, -log(0.3) + 0.1 * 0.9**2 - 3 * 0.2 * log(0.2)),
    # label 1 of scores 0, 1, 3: the first pair is in order by 1, the second out of it by 2
    ("elb", {}, [0, 1, 3], 1, ce([0, 1, 3], 1) + 0 + 2 + 1),
    ("pn", {"weight": 0.5}, [0, 1, 3], 1, ce([0, 1, 3], 1) + 0.5 * 2.1**2),
    ("hinge", {"weight": 2.0, "margin": 0.5}, [0, 1, 3], 1, ce([0, 1, 3], 1) + 2 * 2.5),
    ("lagrangian", {"weight": 0.5}, [0, 1, 3], 1, ce([0, 1, 3], 1) + 0.5 / 2 * 2**2),
    # gaps -1 and -1/2, both in order by more than 1/100
    ("orcu", {}, [0, 1, 0.5], 1, -entropy(SOFT[0], *SOFT) + ce([0, 1, 0.5], 1) + SOFT[0] * 1.5 - log(0.5) / 10),
    ("rps", {}, of_probs(*PROBS), 1, 0.2**2 + 0.3**2),
    ("mce", {}, of_probs(*PROBS), 0, (0.8**2 + 0.5**2 + 0.3**2) / 3),
    ("cdw-ce", {"power": 2.0}, of_probs(*PROBS), 0, -log(0.5) - 4 * log(0.7)),
    ("oll", {}, of_probs(*PROBS), 0, -log(0.5) - 2**1.5 * log(0.7)),
    ("cdw-ce", {"margin": 0.1}, of_probs(0.9, 0.06, 0.04), 0, 0),
    ("cs-ce", {"weight": 4.0}, of_probs(*PROBS), 0, -log(0.2) + 4 * (0.5 / 4 + 0.3)),
    ("cs-ce", {"weight": 4.0, "power": 1.0}, of_probs(*PROBS), 1, -log(0.5) + 4 * (0.2 / 2 + 0.3 / 2)),
    ("se", {}, of_probs(*PROBS), 2, 0.9**2),
    ("eae", {}, of_probs(*PROBS), 0, 0.5 + 2 * 0.3),
    ("slace", {}, of_probs(*PROBS), 0, -(log(0.2) + FALLING[1] * log(0.7)) / sum(FALLING)),
    # label 0 wants .2 above .5 above .3: only the first pair is out of order, by .3
    ("co2", {"weight": 2.0, "margin": 0.1}, of_probs(*PROBS), 0, -log(0.2) + 2 * (0.1 + 0.3)),
    ("ho2", {"weight": 2.0, "margin": 0.1}, of_probs(*PROBS), 0, entropy(*PROBS) + 2 * (0.1 + 0.3)),
    # label 1: .1 below .3 by more than .05; .35 above .3; .25 below .35
    ("qul", {"weight": 2.0, "margin": 0.05}, of_probs(0.1, 0.3, 0.35, 0.25), 1, -log(0.3) + 2 * (0.05 + 0.35 - 0.3)),
    ("qul", {"margin": 0.0}, of_probs(0.5, 0.2, 0.02, 0.08, 0.2), 0, -log(0.5)),  # far classes in any order
    ("uc", {"weight": 7.0}, of_probs(*PROBS), 0, log(0.49 + 1 / 12) / 2 + 1.1**2 / (2 * (0.49 + 1 / 12)) + 7 * 0.3),
    # nearest with its peak at 0: .35 .35 .3; levels .2 .7 against .35 .7
    ("wu", {"weight": 2.0}, of_probs(*PROBS), 0, -log(0.2) + 2 * 0.15),
    ("ren", {}, [0, 0, 0], 1, 3 / 4),
    ("slopes", {}, [0, 0], 1, 2 / 4 + 0.1 * log(3)),
    ("slopes", {"levels": "logistic"}, [0, 0], 1, 2 * log(2) + 0.1 * log(3)),
    ("or-cnn", {}, of_levels(0.9, 0.4), 1, -log(0.9 * 0.6)),
    ("corn", {}, of_levels(0.8, 0.5), 1, -log(0.8 * 0.5)),
    ("condor", {}, of_levels(0.9, 0.5), 1, -log(0.9 * 0.55)),  # levels .9 and .45
    ("ecoc", {}, [0, 0], 1, 2 / 4),
    ("stick-breaking", {}, of_levels(0.5, 0.5, 0.25), 2, -log(0.0625)),
    ("regression", {}, [0.25], 3, 0.25**2),  # class 3 of five is at .5
    ("binomial", {}, [0], 1, log(2)),
]
"""Name, settings, outputs of one sample, its label, the loss."""


@pytest.mark.parametrize(("name", "settings", "outputs", "label", "expected"), LOSSES)
def test_the_loss_is_the_value_worked_by_hand(name, settings, outputs, label, expected):
    few = {"slopes": 1, "or-cnn": 1, "corn": 1, "condor": 1, "ecoc": 1, "stick-breaking": 1}
    num_classes = {"regression": 5, "binomial": 3}.get(name, len(outputs) + few.get(name, 0))
    method = onepeak.method(name, num_classes=num_classes, **settings)
    loss = method.loss(torch.tensor([outputs], dtype=torch.float64), torch.tensor([label]))
    assert loss.item() == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_the_loss_of_peak_is_the_value_worked_by_hand():
    # gaps -2 and -2, both in order by more than 1/9
    middle = e**2 / (e**2 + 2)
    expected = -log(middle) + 2 * ((1 - middle) / 2) ** 2 - 2 * log(2) / 3
    scores, labels = torch.tensor([[0.0, 2.0, 0.0]], dtype=torch.float64), torch.tensor([1])
    assert onepeak.PeakLoss(num_classes=3)(scores, labels).item() == pytest.approx(expected)


def test_the_loss_of_a_table_of_soft_labels_is_the_value_worked_by_hand():
    soft = SoftLabels(torch.tensor([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]))
    scores = torch.tensor([of_probs(*PROBS)], dtype=torch.float64)
    expected = 0.7 * log(0.7 / 0.2) + 0.2 * log(0.2 / 0.5) + 0.1 * log(0.1 / 0.3)
    assert soft.loss(scores, torch.tensor([0])).item() == pytest.approx(expected, rel=1e-6)
    assert soft.loss(scores, torch.tensor([2])).item() == pytest.approx(-log(0.3))  # classes without mass count 0


def test_the_losses_of_a_gaussian_and_of_a_truncated_normal_are_the_values_worked_by_hand():
    deviation = math.log1p(e**2)
    ends = exp(-1 / (2 * deviation**2))
    gaussian = onepeak.method("gaussian", num_classes=3, variance_weight=0.3)
    loss = gaussian.loss(torch.tensor([[0.0, 2.0]], dtype=torch.float64), torch.tensor([2]))
    assert loss.item() == pytest.approx(-log(ends / (1 + 2 * ends)) + 0.3 * deviation**2)
    output = torch.tensor([[0.3]], dtype=torch.float64)
    for power in (1.0, 2.0):
        normal = onepeak.method("ot-normal", num_classes=4, power=power)
        probs = normal.log_probs(output).exp()[0].tolist()
        expected = probs[0] + probs[2] + 2**power * probs[3]
        assert normal.loss(output, torch.tensor([1])).item() == pytest.approx(expected)
