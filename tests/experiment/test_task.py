import json
import time
from dataclasses import replace

import pytest
import torch

from experiment.tiny import tiny
from onepeak.experiment.events import Elsewhere, EpochDone, Failed, Finished, Started
from onepeak.experiment.folder import claim, write_failure
from onepeak.experiment.grid import grid
from onepeak.experiment.plan import MethodEntry
from onepeak.experiment.task import train_task
from onepeak.networks.backbones import SmallConvNet


@pytest.fixture(scope="module")
def prepared_experiment(tmp_path_factory):
    return tiny(tmp_path_factory.mktemp("cache"), num_splits=1, epochs=2)


@pytest.fixture
def trained(prepared_experiment, tmp_path, fabric):
    """Trains the first run of the small experiment, or another one; gives the outcome and the events."""

    def train(experiment=prepared_experiment, **others):
        events = []
        run = grid(experiment.experiment.methods, experiment.splits)[0]
        outcome = train_task(run, experiment, tmp_path, fabric=fabric, report=events.append, **others)
        return outcome, events

    return train


def test_a_run_is_trained_told_of_and_recorded_with_its_label(trained, tmp_path):
    outcome, events = trained()
    assert isinstance(outcome, Finished)
    assert [type(event) for event in events] == [Started, EpochDone, EpochDone]
    assert [event.row["epoch"] for event in events[1:]] == [0, 1]
    written = json.loads((tmp_path / "runs" / "ce" / "split0-fold0" / "result.json").read_text())
    assert written == json.loads(json.dumps(outcome.result))
    assert (written["label"], written["method"], written["split"], written["seed"]) == ("ce", "ce", 0, 0)


def test_a_finished_run_is_never_repeated(trained, tmp_path):
    trained()
    path = tmp_path / "runs" / "ce" / "split0-fold0" / "result.json"
    before = path.stat()
    outcome, events = trained()
    assert isinstance(outcome, Finished)
    assert events == []
    assert path.stat() == before


def test_a_run_of_another_process_is_left_to_it(trained, prepared_experiment, tmp_path):
    run = grid(prepared_experiment.experiment.methods, prepared_experiment.splits)[0]
    with claim(run.folder(tmp_path)):
        assert trained() == (Elsewhere(run=run), [])


def test_a_failure_of_before_is_tried_again_and_forgotten_when_it_goes_well(trained, prepared_experiment, tmp_path):
    run = grid(prepared_experiment.experiment.methods, prepared_experiment.splits)[0]
    run.folder(tmp_path).mkdir(parents=True)
    write_failure(run.folder(tmp_path), run, "no luck")
    assert trained(since=time.time() - 60) == (Failed(run=run, message="no luck"), [])
    outcome, _ = trained(since=time.time() + 60)
    assert isinstance(outcome, Finished)
    assert not (run.folder(tmp_path) / "error.json").exists()


def test_an_error_of_onepeak_is_told_as_it_is_and_others_with_their_kind(
    trained, prepared_experiment, tmp_path, monkeypatch
):
    wild = tiny(
        prepared_experiment.prepared.store.folder.parent, MethodEntry(name="ce", recipe={"lr": 1e30}, label="wild")
    )
    outcome, _ = trained(wild)
    assert isinstance(outcome, Failed)
    assert "loss is not a number" in outcome.message
    assert not outcome.unforeseen

    def out_of_memory(self, images):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(SmallConvNet, "forward", out_of_memory)
    outcome, _ = trained()
    assert outcome.message == "OutOfMemoryError: CUDA out of memory."
    assert outcome.unforeseen
    error = json.loads((tmp_path / "runs" / "ce" / "split0-fold0" / "error.json").read_text())
    assert "out_of_memory" in error["traceback"]


def test_leaks_that_were_allowed_are_in_the_record_of_their_split(trained, prepared_experiment):
    outcome, _ = trained(replace(prepared_experiment, leaks={"split0-fold0": ("train and test share 1 group",)}))
    assert outcome.result["shared_by_parts"] == ["train and test share 1 group"]
