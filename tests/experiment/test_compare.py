"""What a comparison does, with an executor that trains in this process; `test_local.py` has the real ones."""

import hashlib

import pytest
import torch

from experiment.tiny import tiny
from in_process import Here
from onepeak.experiment.compare import compare
from onepeak.experiment.events import Executor, Failed, Finished, Started
from onepeak.networks.network import Network
from onepeak.training.feed import ImageFeed
from onepeak.training.run import make_network


def ignore(event):
    pass


SEVEN = ("ce", "ren", "ld", "mv", "po", "pn", "elb")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def test_an_executor_is_whatever_has_its_method():
    assert isinstance(Here(), Executor)


def test_every_run_ends_and_a_second_call_repeats_none(cache, tmp_path):
    prepared_experiment = tiny(cache, epochs=1)
    names = ["ce/split0-fold0", "elb/split0-fold0", "ce/split1-fold0", "elb/split1-fold0"]
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
