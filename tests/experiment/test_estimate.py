import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

from onepeak.data import DataSource
from onepeak.data.splits import Split
from onepeak.errors import InputError
from onepeak.experiment import estimate
from onepeak.experiment.estimate import Work, plan_runs, work_of
from onepeak.experiment.plan import Experiment, MethodEntry, entries_from_text
from onepeak.experiment.prepared import open_experiment
from onepeak.training.feed import RowFeed
from onepeak.training.loop import Loop
from onepeak.training.prepare import prepare
from onepeak.training.recipe import Recipe

RELEASE = Path(__file__).parents[1] / "release_0_1" / "comparison" / "runs" / "elb" / "split0-fold0" / "result.json"


def finish_run(folder, **changes):
    """Writes the result of a finished run of 0.1, changed."""
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(json.loads(RELEASE.read_text()) | changes))


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """Forty rows: 24 to train, 8 to validate and 8 to test on, in steps of 10 samples."""
    rng = np.random.default_rng(0)
    grades = np.arange(40) % 4
    path = tmp_path_factory.mktemp("data") / "grades.csv"
    pd.DataFrame({"size": grades + rng.normal(size=40), "grade": grades}).to_csv(path, index=False)
    return Experiment(
        name="grades",
        source=DataSource(str(path), label="grade"),
        methods=(MethodEntry(name="ce"), MethodEntry(name="elb", recipe={"epochs": 20})),
        folds=2,
        recipe={"epochs": 10, "batch_size": 10},
    )


def test_every_run_has_its_work_and_a_time_and_nothing_is_written(plan, fabric, tmp_path):
    planned = plan_runs(plan, tmp_path / "out", fabric=fabric).runs
    assert [each.run.name for each in planned] == [
        "ce/split0-fold0",
        "elb/split0-fold0",
        "ce/split0-fold1",
        "elb/split0-fold1",
    ]
    first, longer = planned[0], planned[1]
    assert (first.work.epochs, first.work.steps, first.work.trained) == (10, 30, 240)
    assert (longer.work.epochs, longer.work.steps) == (20, 60)
    assert {each.state for each in planned} == {"open"}
    assert 0 < first.seconds < 60
    assert not first.in_company
    assert longer.seconds > first.seconds  # twice the epochs, at half the pace at least
    assert not (tmp_path / "out").exists()


def test_finished_runs_tell_how_long_the_others_will_take(plan, fabric, tmp_path):
    finish_run(tmp_path / "runs" / "ce" / "split0-fold0", seconds=30.0, epochs=10)
    failed = tmp_path / "runs" / "elb" / "split0-fold1"
    failed.mkdir(parents=True)
    (failed / "error.json").write_text(json.dumps({"message": "no luck", "time": 1.0}))
    planned = {each.run.name: each for each in plan_runs(plan, tmp_path, fabric=fabric).runs}
    assert [planned[name].state for name in ("ce/split0-fold0", "ce/split0-fold1", "elb/split0-fold1")] == [
        "finished",
        "open",
        "failed",
    ]
    assert planned["ce/split0-fold0"].seconds == planned["ce/split0-fold1"].seconds == 30.0
    assert all(each.in_company for each in planned.values())
    assert planned["elb/split0-fold0"].seconds == 60.0  # twice the epochs, as fast as what is known


def test_what_is_timed_is_the_epoch_after_those_that_load_and_record(plan, fabric, tmp_path, monkeypatch):
    seconds = pd.DataFrame({"seconds": [90.0, 9.0, 0.32]})
    asked = []

    def trained(settings, *_, **__):
        asked.append(settings.recipe.epochs)

    monkeypatch.setattr(estimate, "train_run", trained)
    monkeypatch.setattr(estimate, "read_history", lambda _: seconds)
    planned = plan_runs(replace(plan, methods=plan.methods[:1]), tmp_path, fabric=fabric).runs[0]
    assert asked == [3]
    # 24 samples to train and 8 to validate on, for a third of the price, took 0.32 s; so do they in each of 10 epochs,
    # and at the end 8 more are tested and as many validated.
    assert planned.seconds == pytest.approx(0.32 / (24 + 8 / 3) * (planned.work.trained + planned.work.evaluated / 3))


def test_images_are_probed_without_decoding_all_of_them(fabric, tmp_path, monkeypatch):
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path / "cache"))
    for number, pixels in enumerate(np.random.default_rng(0).integers(0, 255, (60, 16, 16, 3), np.uint8)):
        place = tmp_path / "pictures" / str(number % 3)
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(place / f"{number}.png")
    decoded = []
    monkeypatch.setattr(
        estimate, "prepare", lambda part, *rest, **more: decoded.append(len(part)) or prepare(part, *rest, **more)
    )
    plan = Experiment(
        name="pictures",
        source=DataSource(str(tmp_path / "pictures")),
        methods=entries_from_text("ce"),
        folds=1,
        recipe={"epochs": 2, "batch_size": 4, "resize": {"short_side": 16}, "augment": {"crop": 16}},
    )
    (planned,) = plan_runs(plan, tmp_path / "out", fabric=fabric).runs
    assert planned.work.trained == 2 * 36
    assert planned.seconds > 0
    assert decoded == [4 * 4 + 4 + 1]
    assert not (tmp_path / "cache").exists()
    for path in (tmp_path / "pictures" / "2").iterdir():
        path.write_bytes(b"")
    (planned,) = plan_runs(plan, tmp_path / "out", fabric=fabric).runs  # a lost class is for the training to tell
    assert planned.seconds > 0


def test_notes_and_the_backbone_are_those_of_the_run(fabric, tmp_path):
    rows = "".join(f"{row / 7},{1 + row % 3},{row % 2}\n" for row in range(60))
    (tmp_path / "t.csv").write_text(f"x,site,grade\n{rows}")
    parts = ["train"] * 40 + ["valid"] * 10 + ["test"] * 9 + [""]
    lines = "".join(f"{row},{part}\n" for row, part in enumerate(parts))
    (tmp_path / "s.csv").write_text(f"item,part\n{lines}")
    plan = Experiment(
        name="t",
        source=DataSource(str(tmp_path / "t.csv"), label="grade"),
        protocol=str(tmp_path / "s.csv"),
        methods=entries_from_text("ce"),
        recipe={"epochs": 2},
    )
    found = plan_runs(plan, tmp_path / "out", fabric=fabric)
    assert found.notes == open_experiment(plan).notes
    assert any("few different integers in site (3)" in note for note in found.notes)
    assert "1 of 60 samples is in no part, and not used: row 61" in found.notes
    assert found.backbone == "mlp"
    finish_run(tmp_path / "runs" / "ce" / "split0-fold0", network={"backbone": "resnet34"})
    assert plan_runs(plan, tmp_path, fabric=fabric).backbone == "resnet34"


@pytest.mark.bad_input
def test_what_would_fail_in_every_run_fails_here(fabric, tmp_path, plan):
    with pytest.raises(InputError, match="`backbone` must be mlp for a table"):
        plan_runs(replace(plan, network={"backbone": "small"}), tmp_path, fabric=fabric)


def test_of_a_frozen_backbone_the_one_pass_over_the_images_is_priced_apart(tmp_path, fabric, monkeypatch):
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path / "cache"))
    torch.manual_seed(0)
    save_file(timm.create_model("resnet10t", num_classes=0).state_dict(), tmp_path / "weights.safetensors")
    plan = Experiment(
        name="frozen",
        source=DataSource("biopsies"),
        methods=entries_from_text("ce"),
        protocol="holdout",
        splits=1,
        network={"backbone": "resnet10t"},
        weights=str(tmp_path / "weights.safetensors"),
        freeze=True,
        tune={"lr": [1e-3, 1e-2]},
        recipe={"epochs": 5},
    )
    found = plan_runs(plan, tmp_path / "out", fabric=fabric)
    assert found.notes[-1].startswith("first one pass over the images, about ")
    assert [each.work.epochs for each in found.runs] == [10]  # five for each learning rate
    assert found.runs[0].seconds < 60  # of the head alone


@pytest.mark.parametrize(
    ("train", "batch", "steps", "trained"),
    [(9, 4, 2, 8), (10, 4, 3, 10), (8, 4, 2, 8), (3, 4, 1, 3), (1, 4, 1, 1), (3, 1, 3, 3)],
)
def test_the_work_is_counted_as_the_loop_does_it(train, batch, steps, trained, fabric):
    recipe = Recipe(epochs=5, batch_size=batch)
    items = np.arange(train + 5)
    split = Split(train=items[:train], valid=items[train:-2], test=items[-2:], protocol="planted")
    assert work_of(split, recipe) == Work(epochs=5, steps=5 * steps, trained=5 * trained, evaluated=5 * 3 + 3 + 2)

    loop = object.__new__(Loop)  # of which only the batches are asked for
    loop.split, loop.recipe, loop.fabric, loop.seed, loop.epoch = split, recipe, fabric, 0, 0
    loop.feed = object.__new__(RowFeed)
    loop.labels = np.zeros_like(items)
    batches = list(loop.batches())
    assert (len(batches), sum(map(len, batches))) == (steps, trained)
