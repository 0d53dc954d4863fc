"""What a comparison does, with an executor that trains in this process; `test_local.py` has the real ones."""

import hashlib
import json
import time
from dataclasses import replace

import pytest
import torch

from experiment.tiny import tiny
from in_process import Here
from onepeak.experiment.compare import compare, train_task
from onepeak.experiment.events import Elsewhere, EpochDone, Executor, Failed, Finished, Started
from onepeak.experiment.folder import claim, write_failure
from onepeak.experiment.plan import MethodEntry, grid
from onepeak.networks.backbones import SmallConvNet
from onepeak.networks.network import Network
from onepeak.training.feed import ImageFeed
from onepeak.training.run import make_network


def ignore(event):
    pass


SEVEN = ("ce", "ren", "ld", "mv", "po", "pn", "elb")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def test_every_run_ends_and_a_second_call_repeats_none(cache, tmp_path):
    prepared_experiment = tiny(cache, epochs=1)
    names = ["ce/split0-fold0", "elb/split0-fold0", "ce/split1-fold0", "elb/split1-fold0"]
    assert isinstance(Here(), Executor)
    first = compare(prepared_experiment, tmp_path, executor=Here(), report=ignore)
    assert [run.name for run in first.finished] == names
    assert first.failed == ()
    times = {name: (tmp_path / "runs" / name / "result.json").stat().st_mtime_ns for name in names}

    left = tmp_path / "runs" / names[0] / "checkpoint.pt"  # by a kill between the result and the end
    left.write_bytes(b"")
    events = []
    second = compare(prepared_experiment, tmp_path, executor=Here(), report=events.append)
    assert second == first
    assert not left.exists()
    assert [type(event) for event in events] == [Finished] * 4
    assert {name: (tmp_path / "runs" / name / "result.json").stat().st_mtime_ns for name in names} == times


def test_a_larger_experiment_trains_only_what_is_new(cache, tmp_path):
    compare(tiny(cache, "ce", num_splits=1, epochs=1), tmp_path, executor=Here(), report=ignore)
    events = []
    larger = tiny(cache, "ce", "elb", num_splits=1, epochs=1)
    outcome = compare(larger, tmp_path, executor=Here(), report=events.append)
    assert [event.run.name for event in events if isinstance(event, Started)] == ["elb/split0-fold0"]
    assert len(outcome.finished) == 2


def test_a_failed_run_is_an_outcome_in_its_place(cache, tmp_path):
    class Unlucky(Here):
        def run(self, runs, prepared_experiment, folder, *, report):
            report(Failed(run=runs[1], message="no luck"))
            super().run([runs[0]], prepared_experiment, folder, report=report)

    prepared_experiment = tiny(cache, num_splits=1, epochs=1)
    outcome = compare(prepared_experiment, tmp_path, executor=Unlucky(), report=ignore)
    assert [run.name for run in outcome.finished] == ["ce/split0-fold0"]
    assert [event.message for event in outcome.failed] == ["no luck"]


def test_all_methods_see_the_same_samples_in_the_same_order_with_the_same_changes(cache, tmp_path, monkeypatch):
    seen = {}
    original = ImageFeed.train_inputs

    def noted(self, indices, *, seed, epoch):
        inputs = original(self, indices, seed=seed, epoch=epoch)
        seen.setdefault(current[0], []).append(
            (epoch, indices.tolist(), hashlib.sha256(inputs.numpy().tobytes()).hexdigest())
        )
        return inputs

    monkeypatch.setattr(ImageFeed, "train_inputs", noted)
    current = [""]

    def report(event):
        if isinstance(event, Started):
            current[0] = event.run.name

    prepared_experiment = tiny(cache, *SEVEN, num_splits=1, epochs=2)
    compare(prepared_experiment, tmp_path, executor=Here(), report=report)
    assert len(seen) == 7
    first = seen["ce/split0-fold0"]
    assert len(first) == 2 * 5  # two epochs of five batches
    assert first[:5] != first[5:]
    assert all(batches == first for batches in seen.values())


def test_all_methods_start_from_the_same_weights_of_what_they_share(cache):
    prepared_experiment = tiny(cache, *SEVEN, "slopes")
    networks = [
        make_network(prepared_experiment.settings(entry), prepared_experiment.network, 8)
        for entry in prepared_experiment.experiment.methods
    ]
    first = networks[0]
    assert isinstance(first, Network)
    for network in networks[1:]:
        assert_same(network.backbone, first.backbone)
    for network in networks[1:7]:  # the seven have one output a class, slopes one fewer
        assert_same(network.head, first.head)
    other = make_network(
        tiny(cache, "ce", seed=1).settings(prepared_experiment.experiment.methods[0]), prepared_experiment.network, 8
    )
    with pytest.raises(AssertionError):
        assert_same(other.backbone, first.backbone)


def assert_same(one, other):
    states = one.state_dict(), other.state_dict()
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.fixture(scope="module")
def prepared_experiment(cache):
    return tiny(cache, num_splits=1, epochs=2)


@pytest.fixture
def trained(prepared_experiment, tmp_path, fabric):
    """Trains the first run of the small experiment, or another one; gives the outcome and the events."""

    def train(experiment=prepared_experiment, **others):
        events = []
        run = grid(experiment.experiment.methods, experiment.splits)[0]
        outcome = train_task(run, experiment, tmp_path, fabric=fabric, report=events.append, **others)
        return outcome, events

    return train


def test_a_run_is_trained_told_of_recorded_with_its_label_and_never_repeated(trained, tmp_path):
    outcome, events = trained()
    assert isinstance(outcome, Finished)
    assert [type(event) for event in events] == [Started, EpochDone, EpochDone]
    assert [event.row["epoch"] for event in events[1:]] == [0, 1]
    path = tmp_path / "runs" / "ce" / "split0-fold0" / "result.json"
    written, before = json.loads(path.read_text()), path.stat()
    assert written == json.loads(json.dumps(outcome.result))
    assert (written["label"], written["method"], written["split"], written["seed"]) == ("ce", "ce", 0, 0)
    again, events = trained()
    assert (type(again), events, path.stat()) == (Finished, [], before)


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
