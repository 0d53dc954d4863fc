import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from torch import nn

from experiment.tiny import tiny
from onepeak._registry import Registry
from onepeak.data.splits import LeakError
from onepeak.errors import InputError
from onepeak.experiment.entries import MethodEntry
from onepeak.experiment.opened import open_experiment, open_manifest
from onepeak.experiment.plan import Experiment
from onepeak.methods import catalog
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.networks.build import NetworkSettings

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
    return Experiment(**{"name": "grades", "data": table, "label": "grade", "methods": METHODS, **given})


def test_recipe_network_and_splits_are_those_of_the_plan(table):
    opened = open_experiment(
        plan(table, recipe={"epochs": 7}, network={"hidden": (8,)}, protocol="holdout", splits=3, seed=2)
    )
    assert opened.recipe.epochs == 7
    assert opened.recipe.batch_size == 64  # as suits a table
    assert opened.network.hidden == (8,)
    assert [split.name for split in opened.splits] == ["split0-fold0", "split1-fold0", "split2-fold0"]
    assert [opened.settings(entry).recipe.epochs for entry in METHODS] == [7, 3]
    assert {opened.settings(entry).seed for entry in METHODS} == {2}
    assert opened.leaks == {}


def test_missing_pictures_are_left_out_where_the_plan_says_so(tmp_path):
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    (tmp_path / "list.csv").write_text("path,grade\na.png,0\ngone.png,0\n")
    given = plan(str(tmp_path / "list.csv"), order="0,1")
    with pytest.raises(InputError, match="1 of 2 images does not exist"):
        open_manifest(given)
    assert len(open_manifest(replace(given, skip_bad=True))) == 1


def test_categories_in_digits_are_those_that_the_plan_names(tmp_path):
    (tmp_path / "rows.csv").write_text("site,size,grade\n01,1,0\n2,2,1\n")
    data = open_manifest(replace(plan(str(tmp_path / "rows.csv")), category=("site",)))
    assert data.items.categories == {"site": ("01", "2")}


def test_columns_that_the_plan_drops_are_not_read(tmp_path):
    (tmp_path / "rows.csv").write_text("path,size,cost,grade\na.png,1,inf,0\nb.png,2,3,1\n")
    data = open_manifest(replace(plan(str(tmp_path / "rows.csv")), drop=("path", "cost")))
    assert data.items.columns == ("size",)


def test_it_can_be_sent_to_another_process(tmp_path):
    opened = tiny(tmp_path)
    received = pickle.loads(pickle.dumps(opened))
    assert received.digest == opened.digest
    assert received.splits == opened.splits
    assert (received.prepared.store[0] == opened.prepared.store[0]).all()


@pytest.mark.bad_input
def test_a_network_that_cannot_be_built_is_told_before_any_run(table, tmp_path):
    with pytest.raises(InputError, match="`backbone` must be mlp for a table, got 'resnet18'"):
        open_experiment(plan(table, network={"backbone": "resnet18"}))
    with pytest.raises(InputError, match=r"`weights` must be a file, got .*gone"):
        open_experiment(plan(table, weights=str(tmp_path / "gone")))


@pytest.mark.bad_input
@pytest.mark.bad_input
def test_data_of_one_class_cannot_be_trained_on_though_the_order_names_more(tmp_path):
    (tmp_path / "one.csv").write_text("size,grade\n" + "1,low\n2,low\n" * 20)
    with pytest.raises(InputError, match="The data must have items of at least 2 classes to train on, got only 'low'"):
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
    opened = open_experiment(plan(table, **leaking, allow_leak=True))
    assert opened.leaks.keys() == {"split0-fold0"}
    assert "train and test share 18 groups" in opened.leaks["split0-fold0"][0]


def test_networks_that_draw_random_numbers_are_not_packed(tmp_path):
    opened = tiny(tmp_path)
    assert opened.can_pack
    assert not replace(opened, network=NetworkSettings(backbone="mlp", num_features=4, dropout=0.5)).can_pack


def build_noisy(num_classes, *, class_weight=None):
    """A method of a user's own with dropout in it."""
    noisy = CrossEntropy(num_classes, class_weight=class_weight)
    noisy.noise = nn.Dropout(0.5)
    return noisy


@pytest.mark.parametrize("entries", [("noisy", "ce"), ("ce", "noisy")])
def test_methods_that_draw_random_numbers_are_not_packed_wherever_they_stand(tmp_path, monkeypatch, entries):
    monkeypatch.setattr(catalog, "METHODS", Registry("method", catalog.METHODS))
    catalog.METHODS.add(replace(catalog.METHODS["ce"], name="noisy", build=build_noisy))
    assert not tiny(tmp_path, *entries).can_pack
