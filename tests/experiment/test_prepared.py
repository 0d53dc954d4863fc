import os
import pickle
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from torch import nn

from experiment.tiny import tiny
from onepeak._core.registry import Registry
from onepeak.data import DataSource
from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.splits import LeakError
from onepeak.errors import InputError
from onepeak.experiment.plan import Experiment, MethodEntry, plan_from, read_plan
from onepeak.experiment.prepared import checked_recipe, open_experiment, open_manifest
from onepeak.methods import catalog
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.networks.build import NetworkSettings
from onepeak.training.presets import TABLE
from training.planted import planted_table

METHODS = (MethodEntry(name="ce"), MethodEntry(name="elb", recipe={"epochs": 3}))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Forty rows of twenty patients."""
    rng = np.random.default_rng(0)
    grades = np.arange(40) % 4
    frame = pd.DataFrame({"size": grades + rng.normal(size=40), "patient": np.arange(40) // 2, "grade": grades})
    path = tmp_path_factory.mktemp("data") / "grades.csv"
    frame.to_csv(path, index=False)
    return str(path)


def plan(table, **given):
    settings = {"label": "grade", **given}
    of_data = {name: settings.pop(name) for name in [*settings] if name in {each.name for each in fields(DataSource)}}
    return Experiment(**{"name": "grades", "source": DataSource(table, **of_data), "methods": METHODS, **settings})


def test_recipe_network_and_splits_are_those_of_the_plan(table):
    prepared_experiment = open_experiment(
        plan(table, recipe={"epochs": 7}, network={"hidden": (8,)}, protocol="holdout", splits=3, seed=2)
    )
    assert prepared_experiment.recipe.epochs == 7
    assert prepared_experiment.recipe.batch_size == 64  # as suits a table
    assert prepared_experiment.network.hidden == (8,)
    assert [split.name for split in prepared_experiment.splits] == ["split0-fold0", "split1-fold0", "split2-fold0"]
    assert [prepared_experiment.settings(entry).recipe.epochs for entry in METHODS] == [7, 3]
    assert {prepared_experiment.settings(entry).seed for entry in METHODS} == {2}
    assert prepared_experiment.leaks == {}


def test_missing_images_are_left_out_where_the_plan_says_so(tmp_path):
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    (tmp_path / "list.csv").write_text("path,grade\na.png,0\ngone.png,0\n")
    given = plan(str(tmp_path / "list.csv"), order="0,1")
    with pytest.raises(InputError, match="1 of 2 images does not exist"):
        open_manifest(given)
    assert len(open_manifest(replace(given, source=replace(given.source, skip_bad=True)))) == 1


def test_a_second_time_no_image_is_read_again(tmp_path):
    for number in range(12):
        path = tmp_path / "images" / str(number % 2) / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 6), (number, 0, 0)).save(path)
    given = Experiment(name="small", source=DataSource(str(tmp_path / "images")), methods=METHODS)
    first = open_experiment(given, cache=tmp_path / "cache", quiet=True)
    assert first.recipe.resize.short_side == 6  # the images are small and of one size
    for path in (tmp_path / "images").rglob("*.png"):  # unreadable now, and unchanged as far as can be told unread
        status = path.stat()
        path.write_bytes(bytes(status.st_size))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = open_experiment(given, cache=tmp_path / "cache", quiet=True)
    assert (second.digest, second.recipe, second.splits) == (first.digest, first.recipe, first.splits)


def test_it_can_be_sent_to_another_process(tmp_path):
    prepared_experiment = tiny(tmp_path)
    received = pickle.loads(pickle.dumps(prepared_experiment))
    assert received.digest == prepared_experiment.digest
    assert received.splits == prepared_experiment.splits
    assert (received.prepared.store[0] == prepared_experiment.prepared.store[0]).all()


@pytest.mark.bad_input
def test_a_network_that_cannot_be_built_is_told_before_any_run(table, tmp_path):
    with pytest.raises(InputError, match="`backbone` must be mlp for a table, got 'resnet18'"):
        open_experiment(plan(table, network={"backbone": "resnet18"}))
    with pytest.raises(InputError, match=r"`weights` must be a file, or pretrained for timm's own, got .*gone"):
        open_experiment(plan(table, weights=str(tmp_path / "gone")))


@pytest.mark.bad_input
def test_data_of_one_class_cannot_be_trained_on_though_the_order_names_more(tmp_path):
    (tmp_path / "one.csv").write_text("size,grade\n" + "1,low\n2,low\n" * 20)
    with pytest.raises(
        InputError, match="The data must have samples of at least 2 classes to train on, got only 'low'"
    ):
        open_experiment(plan(str(tmp_path / "one.csv"), order="low,high"))


def test_every_method_is_tried_with_the_classes_of_the_data_before_any_run(table, monkeypatch):
    """A method of a user's own that takes two classes only, and comes second."""

    def build(num_classes, *, class_weight=None):
        if num_classes != 2:
            raise InputError(f"`num_classes` must be 2, got {num_classes}.")
        return catalog.METHODS["ce"].build(num_classes, class_weight=class_weight)

    monkeypatch.setattr(catalog, "METHODS", Registry("method", catalog.METHODS))
    catalog.METHODS.add(replace(catalog.METHODS["ce"], name="pair", build=build))
    with pytest.raises(InputError, match="`num_classes` must be 2, got 4"):
        open_experiment(plan(table, methods=(MethodEntry(name="ce"), MethodEntry(name="pair"))))


def test_splits_that_leak_are_refused_and_where_allowed_told_by_split(table, tmp_path):
    parts = ["train", "test"] * 18 + ["valid"] * 4
    pd.DataFrame({"item": range(40), "part": parts}).to_csv(tmp_path / "elsewhere.csv", index=False)
    leaking = {"group": "patient", "protocol": str(tmp_path / "elsewhere.csv")}
    with pytest.raises(LeakError, match="train and test share 18 groups"):
        open_experiment(plan(table, **leaking))
    prepared_experiment = open_experiment(plan(table, **leaking, allow_leak=True))
    assert prepared_experiment.leaks.keys() == {"split0-fold0"}
    assert "train and test share 18 groups" in prepared_experiment.leaks["split0-fold0"][0]


def build_noisy(num_classes, *, class_weight=None):
    """A method of a user's own with dropout in it."""
    noisy = CrossEntropy(num_classes, class_weight=class_weight)
    noisy.noise = nn.Dropout(0.5)
    return noisy


def test_networks_and_methods_that_draw_random_numbers_are_not_packed_wherever_they_stand(tmp_path, monkeypatch):
    network = NetworkSettings(backbone="mlp", num_features=4, dropout=0.5)
    assert tiny(tmp_path).can_pack
    assert not replace(tiny(tmp_path), network=network).can_pack
    monkeypatch.setattr(catalog, "METHODS", Registry("method", catalog.METHODS))
    catalog.METHODS.add(replace(catalog.METHODS["ce"], name="noisy", build=build_noisy))
    assert not any(tiny(tmp_path, *entries).can_pack for entries in (("noisy", "ce"), ("ce", "noisy")))


IMAGES = biopsies(16)


ROOT = Path(__file__).parents[2]


def plan_checked_recipe(recipe=None, methods=("ce", "elb"), **more):
    content = {"data": "biopsies", "methods": list(methods), "recipe": recipe or {}, **more}
    return plan_from(content, name="mine", source="mine.toml")


def refused(manifest, experiment):
    """The lines of the message."""
    with pytest.raises(InputError) as error:
        checked_recipe(manifest, experiment)
    return str(error.value).split("\n")


@pytest.mark.bad_input
def test_all_that_does_nothing_or_does_not_suit_the_data_is_said_at_once_with_file_and_key():
    own = {"name": "ce", "recipe": {"class_weight": [1, 2, 3], "lr_floor": 0.1, "schedule": "constant"}, "label": "own"}
    lines = refused(
        IMAGES, plan_checked_recipe({"momentum": 0.9, "step_every": 3, "class_weight": [1, 2]}, ["ce", own])
    )
    for beginning in (
        "mine.toml: recipe.momentum: `momentum` does nothing with optimizer='adamw', got 0.9: leave it out or use ",
        "mine.toml: recipe.step_every: `step_every` does nothing with schedule='cosine' and schedule='constant', got 3",
        "mine.toml: recipe.class_weight: `class_weight` must be 'balanced', 'lds' or 8 numbers",
        "mine.toml: methods.own.recipe.lr_floor: `lr_floor` does nothing with schedule='constant', got 0.1",
        "mine.toml: methods.own.recipe.class_weight: `class_weight` must be 'balanced', 'lds' or 8 numbers",
    ):
        assert sum(line.startswith(beginning) for line in lines) == 1, (beginning, lines)
    assert len(lines) == 5


def by_sgd(name, **more):
    return {"name": name, "recipe": {"optimizer": "sgd", **more}, "label": f"{name}-by-sgd"}


@pytest.mark.bad_input
def test_values_to_be_tuned_must_have_an_effect_and_not_be_given_too():
    plan = replace(plan_checked_recipe({"lr": 0.3}), tune={"momentum": [0.5, 0.9], "lr": [0.1, 0.2]})
    momentum, lr = refused(IMAGES, plan)
    assert momentum.startswith("mine.toml: tune.momentum: `momentum` does nothing with optimizer='adamw'")
    assert lr == "mine.toml: tune.lr: `tune` must leave lr alone, as it was given (0.3): give one of the two."
    both = replace(plan_checked_recipe({}), tune={"momentum": [0.5, 0.9], "optimizer": ["adamw", "sgd"]})
    assert checked_recipe(IMAGES, both).optimizer == "adamw"
    recorded = plan_checked_recipe({"lr": 0.3}, record={"items": 4})
    assert checked_recipe(IMAGES, replace(recorded, tune={"lr": [0.1]})).lr == 0.3  # the folder has every setting


@pytest.mark.bad_input
def test_a_common_setting_that_its_only_user_overrides_does_nothing():
    (line,) = refused(IMAGES, plan_checked_recipe({"momentum": 0.3}, [by_sgd("ce", momentum=0.5), "elb"]))
    assert line.startswith("mine.toml: recipe.momentum: `momentum` does nothing with optimizer='adamw', got 0.3: ")
    assert refused(IMAGES, replace(plan_checked_recipe({"momentum": 0.5}), file=None, recipe_source=None)) == [
        "mine: recipe.momentum: `momentum` does nothing with optimizer='adamw', got 0.5: leave it out or use "
        "optimizer='sgd'."
    ]
    three = [by_sgd("ce", momentum=0.5), "elb", by_sgd("ren")]
    assert checked_recipe(IMAGES, plan_checked_recipe({"momentum": 0.3}, three)).momentum == 0.3
    (line,) = refused(IMAGES, plan_checked_recipe({"lr": 0.3}, [by_sgd("ce", lr=0.5), by_sgd("elb", lr=0.4)]))
    assert "recipe.lr: `lr` does nothing where every method has its own, got 0.3" in line


@pytest.mark.bad_input
def test_settings_of_a_method_that_do_not_go_together_have_their_key():
    (line,) = refused(
        IMAGES, plan_checked_recipe(methods=[{"name": "ce", "recipe": {"nesterov": True}, "label": "fast"}])
    )
    assert line.startswith("mine.toml: methods.fast.recipe.nesterov: `nesterov` must be false without SGD")


def test_the_file_of_a_folder_has_all_settings_and_can_be_gone_on_with():
    resolved = {"base": "auto", **asdict(replace(TABLE, momentum=0.5))}
    recipe = {name: value for name, value in resolved.items() if value is not None}
    assert checked_recipe(planted_table(), plan_checked_recipe(recipe, record={"items": 4})).momentum == 0.5
    assert len(refused(planted_table(), plan_checked_recipe(recipe))) > 3


@pytest.mark.bad_input
def test_of_the_file_of_a_folder_what_flags_changed_is_checked():
    experiment = plan_checked_recipe({"momentum": 0.5, "bits": 12}, record={"items": 4})
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
    assert path.name == "config.toml" or experiment.name == path.stem
    assert bool(experiment.recipe_source.exempt) == (path.name == "config.toml")
    checked_recipe(planted_table() if experiment.source.data.endswith(".csv") else IMAGES, experiment)
