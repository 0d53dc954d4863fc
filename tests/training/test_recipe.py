import dataclasses

import numpy as np
import pytest

from onepeak.errors import InputError
from onepeak.metrics.catalog import METRICS
from onepeak.training.recipe import SETTING_NAMES, Recipe


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("epochs", 0, r"`epochs` must be an integer >= 1, got 0"),
        ("epochs", 2.5, r"`epochs` must be an integer >= 1, got 2.5"),
        ("batch_size", 0, r"`batch_size` must be an integer >= 1, got 0"),
        ("evaluation_batch_size", -1, r"`evaluation_batch_size` must be an integer >= 1, got -1"),
        ("optimizer", "adam", r"`optimizer`.*'adam'.*adamw"),
        ("schedule", "cosin", r"`schedule`.*'cosin'.*cosine"),
        ("lr", 0, r"`lr` must be a finite number > 0, got 0"),
        ("lr", float("nan"), r"`lr` must be a finite number > 0, got nan"),
        ("momentum", 1.0, r"`momentum` must be a finite number >= 0 and < 1, got 1.0"),
        ("weight_decay", -1e-4, r"`weight_decay` must be a finite number >= 0, got -0.0001"),
        ("step_every", 0, r"`step_every` must be an integer >= 1, got 0"),
        ("step_factor", 0.0, r"`step_factor` must be a finite number > 0 and <= 1, got 0.0"),
        ("lr_floor", -1.0, r"`lr_floor` must be a finite number >= 0, got -1.0"),
        ("warmup_epochs", -1, r"`warmup_epochs` must be an integer >= 0, got -1"),
        ("clip_norm", 0.0, r"`clip_norm` must be a finite number > 0, got 0.0"),
        ("ema", 1.0, r"`ema` must be a finite number > 0 and < 1, got 1.0"),
        ("patience", 0, r"`patience` must be an integer >= 1, got 0"),
        ("bits", 7, r"`bits` must be an integer >= 8, got 7"),
        ("bits", 17, r"`bits` must be an integer from 8 to 16, got 17"),
        ("bits", 12.0, r"`bits` must be an integer >= 8, got 12.0"),
        ("class_weight", "balance", r"`class_weight` must be 'balanced' or one number per class, got 'balance'"),
        ("class_weight", 2.0, r"`class_weight` must be 'balanced' or one number per class, got 2.0"),
        ("class_weight", (1.0, 0), r"`class_weight` must be a finite number > 0, got 0"),
        ("select", "maee", r"`select`.*'maee'.*mae"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_by_name(setting, value, message):
    with pytest.raises(InputError, match=message):
        Recipe(**{setting: value})


def test_the_epoch_may_be_chosen_by_the_loss_or_any_metric():
    for name in ["last", "loss", "as_published", *(record.name for record in METRICS)]:
        assert Recipe(select=name).select == name


@pytest.mark.bad_input
def test_numpys_numbers_become_pythons():
    recipe = Recipe(lr=np.float32(0.5), epochs=np.int64(3), nesterov=np.bool_(True), optimizer="sgd")
    assert [(type(value), value) for value in (recipe.lr, recipe.epochs)] == [(float, 0.5), (int, 3)]
    assert recipe.nesterov is True


def test_the_plain_settings_are_all_but_the_geometry_of_images():
    names = {each.name for each in dataclasses.fields(Recipe)}
    assert names - set(SETTING_NAMES) == {"resize", "augment"}


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nesterov": True}, "`nesterov` must be false without SGD and momentum"),
        ({"nesterov": True, "optimizer": "sgd", "momentum": 0.0}, "`nesterov` must be false without SGD and momentum"),
        ({"select": "last", "patience": 5}, "`patience` must be left out if `select` is 'last'"),
        ({"balanced": True, "class_weight": "balanced"}, "`class_weight` must not be 'balanced' if `balanced`"),
        ({"balanced": "false"}, "`balanced` must be true or false, got 'false'"),
    ],
)
def test_settings_that_would_do_nothing_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Recipe(**settings)
