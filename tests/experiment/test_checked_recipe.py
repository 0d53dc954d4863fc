from dataclasses import asdict, replace
from pathlib import Path

import pytest

from onepeak.data.biopsies import biopsies
from onepeak.errors import InputError
from onepeak.experiment.checked_recipe import checked_recipe
from onepeak.experiment.plan_file import plan_from, read_plan
from onepeak.training.presets import TABLE, preset
from training.planted import planted_table

IMAGES = biopsies(16)


ROOT = Path(__file__).parents[2]


def plan(recipe=None, methods=("ce", "elb"), **more):
    content = {"data": "biopsies", "methods": list(methods), "recipe": recipe or {}, **more}
    return plan_from(content, name="mine", source="mine.toml")


def refused(manifest, experiment):
    """The lines of the message."""
    with pytest.raises(InputError) as error:
        checked_recipe(manifest, experiment)
    return str(error.value).split("\n")


def test_the_common_recipe_is_that_of_the_data_with_the_changes():
    assert checked_recipe(IMAGES, plan({"epochs": 3})) == replace(preset("auto", IMAGES), epochs=3)


@pytest.mark.bad_input
def test_all_that_does_nothing_or_does_not_suit_the_data_is_said_at_once_with_file_and_key():
    own = {"name": "ce", "recipe": {"class_weight": [1, 2, 3], "lr_floor": 0.1, "schedule": "constant"}, "label": "own"}
    lines = refused(IMAGES, plan({"momentum": 0.9, "step_every": 3, "class_weight": [1, 2]}, ["ce", own]))
    for beginning in (
        "mine.toml: recipe.momentum: `momentum` does nothing with optimizer='adamw', got 0.9: leave it out or use ",
        "mine.toml: recipe.step_every: `step_every` does nothing with schedule='cosine' and schedule='constant', got 3",
        "mine.toml: recipe.class_weight: `class_weight` must be 'balanced' or 8 numbers, one per class, got 2 numbers.",
        "mine.toml: methods.own.recipe.lr_floor: `lr_floor` does nothing with schedule='constant', got 0.1",
        "mine.toml: methods.own.recipe.class_weight: `class_weight` must be 'balanced' or 8 numbers, one per class, go",
    ):
        assert sum(line.startswith(beginning) for line in lines) == 1, (beginning, lines)
    assert len(lines) == 5


@pytest.mark.bad_input
def test_a_table_is_neither_resized_nor_augmented():
    (crop,) = refused(planted_table(), plan({"augment": {"crop": 8}}))
    assert crop == "mine.toml: recipe.augment.crop: `crop` does nothing for a table, got 8: leave it out."


def test_a_preset_may_set_what_does_nothing():
    assert checked_recipe(planted_table(), plan({"base": "paper"})).augment.crop == 256


def test_one_method_may_be_the_only_one_that_uses_a_setting():
    sgd = {"name": "ce", "recipe": {"optimizer": "sgd"}, "label": "by-sgd"}
    assert checked_recipe(IMAGES, plan({"momentum": 0.5}, ["ce", sgd])).momentum == 0.5


def by_sgd(name, **more):
    return {"name": name, "recipe": {"optimizer": "sgd", **more}, "label": f"{name}-by-sgd"}


@pytest.mark.bad_input
def test_a_common_setting_that_its_only_user_overrides_does_nothing():
    (line,) = refused(IMAGES, plan({"momentum": 0.3}, [by_sgd("ce", momentum=0.5), "elb"]))
    assert line.startswith("mine.toml: recipe.momentum: `momentum` does nothing with optimizer='adamw', got 0.3: ")
    three = [by_sgd("ce", momentum=0.5), "elb", by_sgd("ren")]
    assert checked_recipe(IMAGES, plan({"momentum": 0.3}, three)).momentum == 0.3


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["lr", "momentum"])
def test_a_common_setting_that_all_methods_override_does_nothing(name):
    (line,) = refused(
        IMAGES, plan({name: 0.3, "epochs": 2}, [by_sgd("ce", **{name: 0.5}), by_sgd("elb", **{name: 0.4})])
    )
    assert (
        line
        == f"mine.toml: recipe.{name}: `{name}` does nothing where every method has its own, got 0.3: leave it out."
    )


@pytest.mark.bad_input
def test_settings_of_a_method_that_do_not_go_together_have_their_key():
    (line,) = refused(IMAGES, plan(methods=[{"name": "ce", "recipe": {"nesterov": True}, "label": "fast"}]))
    assert line.startswith("mine.toml: methods.fast.recipe.nesterov: `nesterov` must be false without SGD")


@pytest.mark.bad_input
def test_without_a_file_the_experiment_is_named():
    experiment = replace(plan({"momentum": 0.5}), file=None, recipe_source=None)
    assert refused(IMAGES, experiment)[0].startswith("mine: recipe.momentum: `momentum` does nothing with ")


def test_the_file_of_a_folder_has_all_settings_and_can_be_gone_on_with():
    resolved = {"base": "auto", **asdict(replace(TABLE, momentum=0.5))}
    recipe = {name: value for name, value in resolved.items() if value is not None}
    assert checked_recipe(planted_table(), plan(recipe, record={"items": 4})).momentum == 0.5
    assert len(refused(planted_table(), plan(recipe))) > 3


@pytest.mark.bad_input
def test_of_the_file_of_a_folder_what_flags_changed_is_checked():
    experiment = plan({"momentum": 0.5, "bits": 12}, record={"items": 4})
    assert checked_recipe(planted_table(), experiment).bits == 12
    changed = replace(experiment, recipe_source=experiment.recipe_source.changed_by(["bits", "lr"]))
    (line,) = refused(planted_table(), changed)
    assert line == (
        "mine.toml: recipe.bits: `bits` does nothing for data other than image files, got 12: leave it out."
    )


@pytest.mark.parametrize(
    "path",
    [*sorted(ROOT.glob("experiments/*.toml")), *sorted(ROOT.glob("results/*/config.toml"))],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_every_committed_experiment_and_record_is_accepted(path):
    experiment = read_plan(path)
    assert bool(experiment.recipe_source.exempt) == (path.name == "config.toml")
    checked_recipe(planted_table() if experiment.data.endswith(".csv") else IMAGES, experiment)
