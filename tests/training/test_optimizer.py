import math
from dataclasses import replace

import pytest
import torch

import onepeak
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.training.optimizer import learning_rate, make_optimizer, set_learning_rate
from onepeak.training.presets import PAPER
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


@pytest.mark.parametrize("name", ["coral", "clm", "smooth-elb", "coral+elb"])
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_thresholds_of_a_method_learn_ten_times_as_fast_and_all_else_alike(name, optimizer):
    network = build_network(onepeak.method(name, num_classes=4), NETWORK, seed=0)
    found = make_optimizer(network, Recipe(optimizer=optimizer, lr=0.3))
    own = list(network.method.parameters())
    others = len(list(network.parameters())) - len(own)
    assert [len(group["params"]) for group in found.param_groups] == ([others, len(own)] if own else [others])
    assert not own or all(mine is given for mine, given in zip(own, found.param_groups[1]["params"], strict=True))
    rates = [0.3, 3.0] if own else [0.3]
    assert [group["lr"] for group in found.param_groups] == pytest.approx(rates)
    set_learning_rate(found, 0.1)
    assert [group["lr"] for group in found.param_groups] == pytest.approx([rate / 3 for rate in rates])
    again = make_optimizer(network, Recipe(optimizer=optimizer, lr=0.3))
    again.load_state_dict(found.state_dict())
    set_learning_rate(again, 0.2)
    assert again.param_groups[-1]["lr"] == pytest.approx(rates[-1] * 2 / 3)


@pytest.mark.parametrize(
    ("recipe", "rates"),
    [
        (PAPER, {0: 1e-3, 99: 1e-3, 100: 1e-4, 199: 1e-4, 200: 1e-5, 300: 1e-6, 400: 1e-7, 500: 1e-7, 999: 1e-7}),
        (Recipe(schedule="constant", lr=0.02), {0: 0.02, 29: 0.02}),
        (Recipe(schedule="constant", lr=0.4, warmup_epochs=3), {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4, 4: 0.4}),
        (Recipe(lr=1.0, epochs=10), {0: 1.0, 5: 0.5, 9: 0.5 * (1 + math.cos(0.9 * math.pi))}),
        (Recipe(lr=1.0, epochs=12, warmup_epochs=2), {2: 1.0, 7: 0.5, 11: 0.5 * (1 + math.cos(0.9 * math.pi))}),
        # steps are counted from the first epoch, with a warm-up too
        (
            Recipe(schedule="step", lr=1.0, step_every=4, step_factor=0.5, warmup_epochs=1),
            {0: 0.5, 1: 1.0, 3: 1.0, 4: 0.5, 7: 0.5, 8: 0.25},
        ),
        (Recipe(lr=1e-8, lr_floor=1e-7, schedule="constant"), {3: 1e-8}),  # a floor above the rate does not raise it
    ],
)
def test_the_learning_rate_follows_the_schedule(recipe, rates):
    assert {epoch: learning_rate(recipe, epoch) for epoch in rates} == pytest.approx(rates, rel=1e-12)
