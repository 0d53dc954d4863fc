import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from onepeak.data.images.augment import Augment
from onepeak.data.images.resize import Resize
from onepeak.data.manifest import ImageFiles
from onepeak.errors import InputError
from onepeak.metrics.catalog import METRICS
from onepeak.training.imbalance import class_weights
from onepeak.training.presets import IMAGES, PAPER, TABLE, recipe_for
from onepeak.training.recipe import (
    Recipe,
    changed,
    without_effect,
)
from training.planted import planted_images, planted_table

IMPOSSIBLE = {
    "epochs": (0, 2.5),
    "batch_size": (0,),
    "evaluation_batch_size": (-1,),
    "optimizer": ("adam",),
    "schedule": ("cosin",),
    "lr": (0, float("nan")),
    "momentum": (1.0,),
    "nesterov": (True,),  # without SGD and momentum
    "weight_decay": (-1e-4,),
    "step_every": (0,),
    "step_factor": (0.0,),
    "lr_floor": (-1.0,),
    "warmup_epochs": (-1,),
    "clip_norm": (0.0,),
    "ema": (1.0,),
    "patience": (0,),
    "bits": (7, 17, 12.0),
    "balanced": ("false",),
    "class_weight": ("balance", 2.0, (1.0, 0)),
    "select": ("maee",),
}


@pytest.mark.bad_input
@pytest.mark.parametrize(("setting", "value"), [(name, value) for name, all_ in IMPOSSIBLE.items() for value in all_])
def test_a_value_that_makes_no_sense_is_refused_by_name(setting, value):
    with pytest.raises(InputError, match=rf"`{setting}`"):
        Recipe(**{setting: value})


@pytest.mark.bad_input
def test_settings_that_contradict_each_other_are_refused():
    for settings, message in (
        ({"nesterov": True, "optimizer": "sgd", "momentum": 0.0}, "`nesterov` must be false without SGD and momentum"),
        ({"select": "last", "patience": 5}, "`patience` must be left out if `select` is 'last'"),
        ({"balanced": True, "class_weight": "balanced"}, "`class_weight` must not be 'balanced' if `balanced`"),
        ({"balanced": True, "logit_adjustment": 1.0}, "`logit_adjustment` must be left out beside"),
        ({"class_weight": "lds", "logit_adjustment": 1.0}, "`logit_adjustment` must be left out beside"),
    ):
        with pytest.raises(InputError, match=message):
            Recipe(**settings)


def test_the_epoch_may_be_chosen_by_the_loss_or_any_metric():
    for name in ["last", "loss", "as_published", *(record.name for record in METRICS)]:
        assert Recipe(select=name).select == name


@pytest.mark.bad_input
def test_numpys_numbers_become_pythons():
    recipe = Recipe(lr=np.float32(0.5), epochs=np.int64(3), nesterov=np.bool_(True), optimizer="sgd")
    assert [(type(value), value) for value in (recipe.lr, recipe.epochs)] == [(float, 0.5), (int, 3)]
    assert recipe.nesterov is True


def read(text, base=None):
    """The recipe that the text of a file changes."""
    return changed(base or Recipe(), tomllib.loads(text), source="mine.toml")


def test_settings_are_replaced_and_all_others_stay():
    text = 'epochs = 40\nlr = 3e-4\nschedule = "step"\noptimizer = "sgd"\nmomentum = 0.9\nnesterov = true'
    assert read(text, PAPER) == replace(PAPER, epochs=40, lr=3e-4, schedule="step", nesterov=True)
    assert read("", PAPER) == PAPER


def test_tables_replace_settings_of_resize_and_augment():
    found = read(
        "epochs = 7\n[resize]\nscale = 0.25\n[augment]\nvertical_flip = true\ncolour_jitter = [0.5, 0.5, 0.5, 0.05]",
        PAPER,
    )
    assert found == replace(
        PAPER,
        epochs=7,
        resize=Resize(short_side=532, only_enlarge=True, scale=0.25),
        augment=Augment(crop=256, vertical_flip=True, colour_jitter=(0.5, 0.5, 0.5, 0.05)),
    )


@pytest.mark.parametrize(
    "order", [("short_side = 64", "only_enlarge = true"), ("only_enlarge = true", "short_side = 64")]
)
def test_the_order_of_settings_that_belong_together_does_not_matter(order):
    assert read("\n".join(["[resize]", *order])).resize == Resize(short_side=64, only_enlarge=True)


@pytest.mark.bad_input
def test_settings_may_name_the_preset_they_start_from():
    table = planted_table()
    assert recipe_for(table, {"base": "paper", "epochs": 3}, source="mine.toml") == replace(PAPER, epochs=3)
    assert recipe_for(table, {"epochs": 3}, source="mine.toml") == replace(TABLE, epochs=3)
    with pytest.raises(InputError, match=r"mine\.toml: recipe\.base: Unknown `recipe` 'papr'\. Did you mean 'paper'"):
        recipe_for(table, {"base": "papr"}, source="mine.toml", prefix="recipe.")


@pytest.mark.bad_input
def test_all_that_is_wrong_is_said_at_once_with_the_file_and_the_dotted_key():
    with pytest.raises(InputError) as refused:
        read('epoch = 3\nlr = -1.0\noptimizer = "adam"\n[resize]\nshort_sid = 3\n[augment]\ncrop = 0\nflip = true')
    lines = str(refused.value).splitlines()
    assert all(line.startswith("mine.toml: ") for line in lines)
    said = [line.removeprefix("mine.toml: ") for line in lines]
    for beginning in (
        "Unknown setting 'epoch'. Did you mean 'epochs'?",
        "lr: `lr` must be a finite number > 0, got -1.0",
        "optimizer: Unknown `optimizer` 'adam'. Did you mean 'adamw'?",
        "Unknown setting 'resize.short_sid'. Did you mean 'resize.short_side'?",
        "augment.crop: `crop` must be an integer >= 1, got 0",
        "Unknown setting 'augment.flip'.",
    ):
        assert sum(line.startswith(beginning) for line in said) == 1, beginning
    assert len(said) == 6


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("resize = 3", "resize"),
        ("[lr]\nvalue = 1", "lr"),
        ('epochs = "many"', "epochs"),
        ("epochs = true", "epochs"),
        ("lr = nan", "lr"),
        ('balanced = "no"', "balanced"),
        ("[augment]\ncolour_jitter = 5", r"augment\.colour_jitter"),
        ("[augment]\ncolour_jitter = [1, 1]", r"augment\.colour_jitter"),
        ("[resize]\nonly_enlarge = true", "resize"),
        ('select = "mea"', "select"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_with_its_key(text, key):
    with pytest.raises(InputError, match=rf"^mine\.toml: {key}"):
        read(text)


SGD, STEP, CONSTANT = Recipe(optimizer="sgd"), Recipe(schedule="step"), Recipe(schedule="constant")


def found(given, *recipes, data=None, **more):
    return {each.key: each.message for each in without_effect(given, recipes, data or planted_images(4), **more)}


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "recipe", "choice"),
    [
        ({"momentum": 0.9}, Recipe(), "optimizer='adamw'"),
        ({"step_every": 5}, Recipe(), "schedule='cosine'"),
        ({"step_factor": 0.5}, CONSTANT, "schedule='constant'"),
        ({"lr_floor": 1e-5}, CONSTANT, "schedule='constant'"),
    ],
)
def test_a_setting_of_another_optimiser_or_schedule_is_found_even_at_its_default(given, recipe, choice):
    (name,) = given
    assert found(given, recipe)[name].startswith(f"`{name}` does nothing with {choice}, got {given[name]}")


@pytest.mark.parametrize(
    ("given", "recipe"),
    [
        ({"momentum": 0.5}, SGD),
        ({"step_every": 5, "step_factor": 0.5, "lr_floor": 1e-5}, STEP),
        ({"lr_floor": 1e-5}, Recipe()),
        ({"momentum": 0.5, "step_every": 5, "resize": {"scale": 1.0}, "augment": {"crop": 8}}, PAPER),
        ({"sync_batch_norm": True, "nesterov": False, "balanced": False}, IMAGES),
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
def test_a_frozen_backbone_sees_no_crops_and_dicom_says_its_own_bits():
    given = {"augment": {"crop": 8, "horizontal_flip": True}, "bits": 12}
    assert (
        found(given | {"bits": None}, IMAGES, frozen=True)["augment.crop"]
        == "`crop` does nothing with a frozen backbone, which sees whole images, got 8: leave it out."
    )
    images = planted_images(4)
    paths = tuple(f"{number}.DCM" for number in range(len(images)))
    scans = replace(images, items=ImageFiles(root=Path(), paths=paths))
    assert found({"bits": 12}, IMAGES, data=scans)["bits"].startswith(
        "`bits` does nothing for DICOM, whose files say which of their bits they use, got 12"
    )


@pytest.mark.bad_input
def test_arrays_hold_no_bits_but_are_resized():
    problems = found({"bits": 12, "resize": {"scale": 0.5}}, Recipe())
    assert problems == {"bits": "`bits` does nothing for data other than image files, got 12: leave it out."}


OF_CLASSES = np.array([0] * 6 + [1] * 3 + [2])


def test_balanced_weights_are_those_of_scikit_learn():
    expected = compute_class_weight("balanced", classes=np.arange(3), y=OF_CLASSES)
    assert class_weights("balanced", OF_CLASSES, 3) == pytest.approx(expected)


def test_a_class_that_does_not_occur_weighs_as_the_rarest_and_changes_no_other():
    three = class_weights("balanced", OF_CLASSES, 3)
    assert class_weights("balanced", OF_CLASSES, 5) == (*three, three[2], three[2])


def test_numbers_are_taken_as_they_are_and_none_means_none():
    assert class_weights((1, 2.5, 0.5), OF_CLASSES, 3) == (1.0, 2.5, 0.5)
    assert class_weights(None, OF_CLASSES, 3) is None


@pytest.mark.bad_input
def test_another_number_of_weights_than_classes_is_refused():
    with pytest.raises(
        InputError, match=r"`class_weight` must be 'balanced', 'lds' or 3 numbers, one per class, got 2 numbers\."
    ):
        class_weights((1.0, 2.0), OF_CLASSES, 3)
