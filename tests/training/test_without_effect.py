from dataclasses import replace

import pytest

from onepeak.training.presets import PAPER, PICTURES
from onepeak.training.recipe import Recipe
from onepeak.training.schedule import learning_rate
from onepeak.training.without_effect import without_effect
from training.planted import planted_pictures, planted_table

SGD, STEP, CONSTANT = Recipe(optimizer="sgd"), Recipe(schedule="step"), Recipe(schedule="constant")


def found(given, *recipes, data=None, **more):
    return dict(without_effect(given, recipes, data or planted_pictures(4), **more))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "recipe", "message"),
    [
        ({"momentum": 0.9}, Recipe(), "`momentum` does nothing with optimizer='adamw', got 0.9: leave it out or use "),
        ({"step_every": 5}, Recipe(), "`step_every` does nothing with schedule='cosine', got 5: leave it out or use "),
        ({"step_factor": 0.5}, CONSTANT, "`step_factor` does nothing with schedule='constant', got 0.5: leave it out"),
        ({"lr_floor": 1e-5}, CONSTANT, "`lr_floor` does nothing with schedule='constant', got 1e-05: leave it out or"),
    ],
)
def test_a_setting_of_another_optimiser_or_schedule_is_found_even_at_its_default(given, recipe, message):
    (name,) = given
    assert found(given, recipe)[name].startswith(message)


@pytest.mark.parametrize(
    ("given", "recipe"),
    [
        ({"momentum": 0.5}, SGD),
        ({"step_every": 5, "step_factor": 0.5, "lr_floor": 1e-5}, STEP),
        ({"lr_floor": 1e-5}, Recipe()),
        ({"momentum": 0.5, "step_every": 5, "resize": {"scale": 1.0}, "augment": {"crop": 8}}, PAPER),
        ({"sync_batch_norm": True, "nesterov": False, "balanced": False}, PICTURES),
        ({}, Recipe(momentum=0.5, step_every=5)),
    ],
)
def test_what_is_used_or_was_not_given_is_not(given, recipe):
    assert found(given, recipe) == {}


def test_it_is_enough_that_one_method_uses_it():
    given = {"momentum": 0.5, "step_every": 5}
    assert found(given, Recipe(), replace(STEP, optimizer="sgd")) == {}
    message = found(given, STEP, CONSTANT, Recipe())["momentum"]
    assert message.count("optimizer='adamw'") == 1
    chosen = "schedule='cosine' and schedule='constant'"
    assert chosen in found({"step_every": 5}, Recipe(), CONSTANT)["step_every"]


def test_where_every_method_has_its_own_value_none_is_used():
    message = "`{}` does nothing where every method has its own, got 0.5: leave it out."
    assert found({"momentum": 0.5, "lr": 0.5}) == {name: message.format(name) for name in ("momentum", "lr")}


@pytest.mark.bad_input
def test_a_table_has_no_images_and_its_network_no_batch_norm():
    given = {"resize": {"scale": 0.5}, "augment": {"crop": 8, "horizontal_flip": True}, "sync_batch_norm": True}
    problems = found({**given, "bits": 12}, Recipe(), data=planted_table())
    assert list(problems) == ["bits", "resize.scale", "augment.crop", "augment.horizontal_flip", "sync_batch_norm"]
    assert problems["augment.crop"] == "`crop` does nothing for a table, got 8: leave it out."
    assert "sync_batch_norm" not in found(given, Recipe(), data=planted_table(), backbone="mine:network")


@pytest.mark.bad_input
def test_arrays_hold_no_bits_but_are_resized():
    problems = found({"bits": 12, "resize": {"scale": 0.5}}, Recipe())
    assert problems == {"bits": "`bits` does nothing for data other than image files, got 12: leave it out."}


def test_a_constant_rate_has_no_floor():
    """Why `lr_floor` is found."""
    assert learning_rate(Recipe(schedule="constant", lr=1e-3, lr_floor=1e-2), 5) == 1e-3
