import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiment.tiny import tiny
from in_process import Here
from onepeak.errors import InputError
from onepeak.experiment.compare import compare
from onepeak.experiment.events import EpochDone, Failed
from onepeak.experiment.plan import MethodEntry
from onepeak.experiment.results import read_results
from onepeak.experiment.tuning import chosen, tuned_note

GRID = {"lr": [1e-7, 2e-3, 1e30]}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def tuned(cache, *entries, tune=GRID, epochs=2):
    plain = tiny(cache, *(entries or ("ce",)), num_splits=1, epochs=epochs)
    return replace(plain, experiment=replace(plain.experiment, tune=tune))


@pytest.fixture(scope="module")
def compared(cache, tmp_path_factory):
    folder, events = tmp_path_factory.mktemp("tuned"), []
    compare(tuned(cache), folder, executor=Here(), report=events.append)
    return folder, events


def test_the_best_in_validation_is_the_run_and_the_record_says_what_was_tried(compared, cache, tmp_path):
    folder, events = compared
    result = json.loads((folder / "runs" / "ce" / "split0-fold0" / "result.json").read_text())
    values = [each["value"] for each in result["tried"]]
    assert result["tuned"] == {"lr": 2e-3}
    assert values[1] < values[0]
    assert values[2] is None
    assert "not a number" in result["tried"][2]["error"]
    assert result["recipe"]["lr"] == 2e-3
    assert not (folder / "runs" / "ce" / "split0-fold0" / "tuning").exists()
    epochs = [event.row["epoch"] for event in events if isinstance(event, EpochDone)]
    assert epochs == [0, 1, 2, 3]  # of one trial after the other; the last diverged
    compare(tuned(cache, tune={"lr": [2e-3]}), tmp_path / "one", executor=Here(), report=lambda _: None)
    one = json.loads((tmp_path / "one" / "runs" / "ce" / "split0-fold0" / "result.json").read_text())
    assert one["metrics"] == result["metrics"]  # as if it had been the only one


def test_the_tables_say_what_was_chosen(compared):
    results = read_results(compared[0])
    assert tuned_note(results) == "chosen on the validation part of every run: ce lr=0.002 (1x)"
    assert tuned_note(results.assign(tuned=[{}])) is None


def test_the_test_part_is_not_looked_at_before_the_choice(cache, tmp_path):
    """With labels of the test part that would make another setting the best, the same one is chosen."""
    experiment = tuned(cache)
    manifest, (split,) = experiment.prepared.manifest, experiment.splits
    labels = manifest.labels.copy()
    labels[split.test] = 7 - labels[split.test]
    planted = replace(experiment, prepared=replace(experiment.prepared, manifest=replace(manifest, labels=labels)))
    found = []
    for name, each in (("plain", experiment), ("planted", planted)):
        compare(each, tmp_path / name, executor=Here(), report=lambda _: None)
        folder = tmp_path / name / "runs" / "ce" / "split0-fold0"
        result = json.loads((folder / "result.json").read_text())
        tried = [{**trial, "seconds": 0} for trial in result["tried"]]
        found.append((tried, result["tuned"], (folder / "model.safetensors").read_bytes()))
    assert found[0] == found[1]


def test_stopped_in_any_trial_it_goes_on_to_the_same_bits(compared, cache, tmp_path):
    for stop_at in (1, 3):

        def report(event, stop_at=stop_at):
            if isinstance(event, EpochDone) and event.row["epoch"] == stop_at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            compare(tuned(cache), tmp_path, executor=Here(), report=report)
    outcome = compare(tuned(cache), tmp_path, executor=Here(), report=lambda _: None)
    assert len(outcome.finished) == 1
    result = tmp_path / "runs" / "ce" / "split0-fold0"
    whole = compared[0] / "runs" / "ce" / "split0-fold0"
    assert (result / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    pd.testing.assert_frame_equal(*(pd.read_parquet(each / "predictions.parquet") for each in (result, whole)))


def test_where_every_setting_diverges_the_run_has_failed(cache, tmp_path):
    events = []
    compare(tuned(cache, tune={"lr": [1e30, 1e31]}), tmp_path, executor=Here(), report=events.append)
    (failed,) = [event for event in events if isinstance(event, Failed)]
    assert failed.message.startswith("Every setting of the tuning diverged")


@pytest.mark.parametrize(
    ("values", "select", "best"),
    [
        ([0.5, 0.25, 0.25], "mae", 1),
        ([0.5, 0.75, math.nan], "accuracy", 1),
        ([math.inf, 0.5, math.inf], "accuracy", 1),
        ([math.nan, np.inf, 2.0], "loss", 2),
    ],
)
def test_the_first_best_is_chosen_and_never_one_that_is_undefined(values, select, best):
    assert chosen(values, select) == best


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("tune", "entry", "message"),
    [
        ({"lrr": [1.0]}, "ce", "Unknown setting 'tune.lrr'. Did you mean 'tune.lr'"),
        ({"lr": 0.1}, "ce", "tune.lr: must be a list of values, got 0.1"),
        ({"select": ["mae", "accuracy"]}, "ce", "`tune` must leave select alone"),
        ({"lr": [0.1, -1.0]}, "ce", "`lr` must be a finite number > 0, got -1.0"),
        ({"lr": [0.1]}, MethodEntry(name="ce", recipe={"lr": 0.2}), "as ce has its own"),
    ],
)
def test_what_cannot_be_tuned_is_refused(cache, tune, entry, message):
    with pytest.raises(InputError, match=message.replace(".", r"\.")):
        tuned(cache, entry, tune=tune)
