from dataclasses import replace

import torch

import onepeak
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.training.optimizer import make_optimizer
from onepeak.training.recipe import Recipe

NETWORK = NetworkSettings(backbone="mlp", num_features=6, hidden=(16,))


def test_an_optimiser_has_every_weight_and_the_recipes_numbers():
    network = build_network(onepeak.method("po", num_classes=4), NETWORK, seed=0)
    recipe = Recipe(optimizer="sgd", lr=0.3, momentum=0.7, nesterov=True, weight_decay=0.2)
    (group,) = make_optimizer(network, recipe).param_groups
    assert len(group["params"]) == len(list(network.parameters()))
    assert (group["lr"], group["momentum"], group["nesterov"], group["weight_decay"]) == (0.3, 0.7, True, 0.2)
    adamw = make_optimizer(network, replace(recipe, optimizer="adamw", nesterov=False))
    assert isinstance(adamw, torch.optim.AdamW)
    assert adamw.param_groups[0]["weight_decay"] == 0.2
