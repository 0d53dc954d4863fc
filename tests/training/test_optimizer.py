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


def test_the_papers_rate_falls_tenfold_every_hundred_epochs_down_to_its_floor():
    for epoch, rate in [
        (0, 1e-3),
        (99, 1e-3),
        (100, 1e-4),
        (199, 1e-4),
        (200, 1e-5),
        (300, 1e-6),
        (400, 1e-7),
        (500, 1e-7),
        (999, 1e-7),
    ]:
        assert learning_rate(PAPER, epoch) == pytest.approx(rate, rel=1e-12)


def test_a_constant_rate_stays():
    recipe = Recipe(schedule="constant", lr=0.02, epochs=7)
    assert [learning_rate(recipe, epoch) for epoch in range(7)] == [0.02] * 7


def test_warm_up_rises_in_equal_steps_to_the_rate():
    recipe = Recipe(schedule="constant", lr=0.4, warmup_epochs=3, epochs=6)
    rates = [learning_rate(recipe, epoch) for epoch in range(6)]
    assert rates == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.4])


def test_the_cosine_begins_at_the_rate_is_half_way_down_in_the_middle_and_ends_low():
    recipe = Recipe(schedule="cosine", lr=1.0, epochs=10)
    assert learning_rate(recipe, 0) == 1.0
    assert learning_rate(recipe, 5) == pytest.approx(0.5)
    assert learning_rate(recipe, 9) == pytest.approx(0.5 * (1 + math.cos(0.9 * math.pi)))


def test_the_cosine_begins_after_the_warm_up():
    recipe = Recipe(schedule="cosine", lr=1.0, epochs=12, warmup_epochs=2)
    plain = replace(recipe, epochs=10, warmup_epochs=0)
    after = [learning_rate(recipe, epoch) for epoch in range(2, 12)]
    assert after == pytest.approx([learning_rate(plain, epoch) for epoch in range(10)])


def test_steps_are_counted_from_the_first_epoch_with_or_without_a_warm_up():
    recipe = Recipe(schedule="step", lr=1.0, step_every=4, step_factor=0.5, warmup_epochs=1, epochs=9)
    assert [learning_rate(recipe, epoch) for epoch in range(9)] == [0.5, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25]


def test_a_floor_above_the_rate_does_not_raise_it():
    assert learning_rate(Recipe(lr=1e-8, lr_floor=1e-7, schedule="constant"), 3) == 1e-8
