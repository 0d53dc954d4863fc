from dataclasses import replace

import pytest
import torch
from torch import nn

from onepeak.errors import InputError
from onepeak.estimator.plan import NetworkPlan

PLAN = NetworkPlan(
    method="slopes",
    variant="corrected",
    method_settings={"weight": 0.5},
    num_classes=4,
    num_features=3,
    hidden=(64, 64),
    dropout=0.0,
    backbone=None,
)


def test_the_network_is_a_perceptron_for_the_columns_and_the_methods_outputs():
    network = replace(PLAN, hidden=[8, 5], dropout=0.1).build(seed=0)
    assert [tuple(weight.shape) for weight in network.parameters() if weight.ndim == 2] == [(8, 3), (5, 8), (3, 5)]
    assert network.method.weight == 0.5
    assert network(torch.zeros(2, 3)).shape == (2, 3)


@pytest.mark.parametrize("backbone", [None, lambda num_features: nn.Linear(num_features, 6)])
def test_the_same_seed_gives_the_same_first_weights(backbone):
    plan = replace(PLAN, backbone=backbone)
    first, second, other = (plan.build(seed=seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["head.classifier.weight"], other["head.classifier.weight"])


def test_a_module_keeps_its_weights_and_gets_a_head():
    module = nn.Linear(3, 6)
    network = replace(PLAN, backbone=module).build(seed=0)
    assert network.backbone is not module
    assert torch.equal(network.backbone.weight, module.weight)
    assert network(torch.zeros(2, 3)).shape == (2, 3)


@pytest.mark.bad_input
def test_a_module_for_other_rows_is_told_of():
    with pytest.raises(InputError, match=r"`backbone` must return feature maps .* or features"):
        replace(PLAN, backbone=nn.Flatten(0)).build(seed=0)
