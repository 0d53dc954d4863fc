"""On a GPU: a recorded training is the eager one, to the bit."""

from dataclasses import replace
from itertools import count
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import onepeak
from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.splits import make_splits
from onepeak.methods.catalog import methods
from onepeak.methods.method import SoftmaxMethod
from onepeak.networks.build import NetworkSettings
from onepeak.training import graphs, run
from onepeak.training.devices import make_fabric
from onepeak.training.graphs import (
    MOST_STREAMS,
    RecordingError,
    asks_for_no_number,
    can_be_recorded,
    graphs_are_on,
    is_out_of_memory,
    lane_stream,
    recorded_if_it_fits,
    stream_to_record_on,
)
from onepeak.training.prepare import prepare
from onepeak.training.presets import preset
from onepeak.training.recipe import changed
from onepeak.training.run import RunSettings, train_run
from training.planted import RECIPE

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


def test_nothing_is_recorded_on_a_cpu_or_when_switched_off(monkeypatch):
    assert not graphs_are_on(torch.device("cpu"))
    assert graphs_are_on(torch.device("cuda"))
    monkeypatch.setenv("ONEPEAK_GRAPHS", "0")
    assert not graphs_are_on(torch.device("cuda"))


def test_work_that_cannot_be_recorded_names_the_switch_and_a_full_device_does_without(monkeypatch):
    def refuse(error):
        def recording(_):
            raise error

        monkeypatch.setattr("onepeak.training.graphs.Graph", recording)
        return recorded_if_it_fits(lambda: None)

    assert refuse(torch.OutOfMemoryError("full")) is None
    with pytest.raises(RecordingError, match=r"cannot be recorded .*not permitted.*`\.item\(\)`.*ONEPEAK_GRAPHS=0"):
        refuse(RuntimeError("operation not permitted when stream is capturing"))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    manifest = biopsies(120, seed=1)
    return prepare(manifest, preset("auto", manifest), cache_dir=tmp_path_factory.mktemp("cache"), quiet=True)


def trained(prepared, folder, monkeypatch, *, graphs, method, changes):
    monkeypatch.setenv("ONEPEAK_GRAPHS", graphs)
    base = preset("auto", prepared.manifest)
    recipe = changed(base, {"epochs": 4, "batch_size": 16, **changes}, source="test")
    settings = RunSettings(method=method, network=NetworkSettings(backbone="small"), recipe=recipe)
    split = make_splits(prepared.manifest, protocol="auto", splits=1, seed=0)[0]
    result = train_run(settings, prepared, split, folder, fabric=make_fabric(device="cuda"))
    return result, (folder / "model.safetensors").read_bytes()


CHANGES = {
    "sgd": {"optimizer": "sgd", "lr": 1e-3, "epochs": 4},
    "adamw-ema": {"ema": 0.9, "epochs": 4},
    "short": {"epochs": 3},  # the first is eager, the second recorded, the third replayed
}


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize(
    ("method", "name"),
    [
        *((method, name) for method in ("ce", "elb", "mv+elb") for name in ("sgd", "adamw-ema")),
        *((record.name, "short") for record in methods()),
    ],
)
def test_recorded_training_gives_the_bits_of_eager_training(prepared, tmp_path, monkeypatch, method, name):
    changes = {**CHANGES[name], "augment": {"crop": 56}}
    eager, eager_weights = trained(
        prepared, tmp_path / "eager", monkeypatch, graphs="0", method=method, changes=changes
    )
    replayed, weights = trained(prepared, tmp_path / "graph", monkeypatch, graphs="1", method=method, changes=changes)
    assert weights == eager_weights
    for part in ("valid", "test"):
        np.testing.assert_equal(replayed["metrics"][part], eager["metrics"][part])


@gpu
@pytest.mark.gpu
def test_where_a_recording_has_no_memory_steps_stay_eager(prepared, tmp_path, monkeypatch):
    changes = {"augment": {"crop": 56}}
    expected = trained(prepared, tmp_path / "eager", monkeypatch, graphs="0", method="elb", changes=changes)[1]

    def full(_):
        raise torch.OutOfMemoryError("no memory")

    monkeypatch.setattr("onepeak.training.graphs.Graph", full)
    assert trained(prepared, tmp_path / "full", monkeypatch, graphs="1", method="elb", changes=changes)[1] == expected


CHANGES_RECORDED = {
    "adamw": {},
    "sgd, average, dropout": {"optimizer": "sgd", "ema": 0.9, "dropout": 0.3},
    "balanced": {"balanced": True},
    "class weights": {"class_weight": "balanced"},
    "a cost that counts what it is trained on": {"method": "lagrangian"},
}


class Replayed:
    """In place of a CUDA graph: nothing is kept but the work, which every replay does anew.

    What the work does in Python a replay would not do: whether layers are in training stays as it was.
    """

    replays = 0

    def __init__(self, work):
        self.work = work

    def __call__(self):
        Replayed.replays += 1
        asked = getattr(self.work, "__self__", None)  # whose answers these are; a step has no modes of its own
        modes = [(module, module.training) for module in asked.network.modules()] if asked else []
        found = self.work()
        for module, mode in modes:
            module.training = mode
        return found


@pytest.fixture
def record(monkeypatch):
    """From now on training is recorded, on a CPU too."""

    def start():
        monkeypatch.setattr(Replayed, "replays", 0)
        monkeypatch.setattr(graphs, "recorded_if_it_fits", Replayed)
        monkeypatch.setattr(graphs, "graphs_are_on", lambda _: True)

    return start


class StoppedError(Exception):
    """Somebody has pulled the plug."""


class StopsAfter:
    def __init__(self, epoch):
        self.last = epoch

    def step(self, epoch, step, num_steps):
        pass

    def epoch(self, row):
        if row["epoch"] == self.last:
            raise StoppedError


def outcome(folder, result):
    return (folder / "model.safetensors").read_bytes(), result["metrics"], result["best_epoch"]


@pytest.mark.parametrize("changes", CHANGES_RECORDED.values(), ids=CHANGES_RECORDED)
def test_recorded_training_takes_the_same_samples_to_the_same_weights(trained, record, changes):
    eager = outcome(*trained("eager", epochs=4, **changes))
    record()
    assert outcome(*trained("recorded", epochs=4, **changes)) == eager
    # 60 training samples are 3 whole batches of 16, and a short one that is not recorded; the first epoch is eager
    assert Replayed.replays == 3 * (3 + 1)


def test_recorded_training_that_was_stopped_goes_on_to_the_same_weights(trained, record):
    changes = CHANGES_RECORDED["sgd, average, dropout"]
    eager = outcome(*trained("eager", epochs=5, **changes))
    record()
    with pytest.raises(StoppedError):
        trained("stopped", epochs=5, watches=(StopsAfter(3),), **changes)
    Replayed.replays = 0
    assert outcome(*trained("stopped", epochs=5, **changes)) == eager
    assert Replayed.replays == 1 * (3 + 1)  # of epochs 3 and 4, that of epoch 4


class Looks(SoftmaxMethod):
    """Cross-entropy that looks at its numbers."""

    def sample_losses(self, outputs, labels):
        losses = cross_entropy(outputs, labels, reduction="none")
        return losses if losses.max() < 1e6 else losses.log()


def test_a_method_that_looks_at_numbers_is_trained_without_recordings(trained, record, monkeypatch):
    expected = outcome(*trained("eager", method="ce"))
    record()
    monkeypatch.setattr(run, "method", lambda *_, num_classes, **__: Looks(num_classes=num_classes))
    assert outcome(*trained("looks", method="ce")) == expected
    assert Replayed.replays == 0


def method_with(sample_losses):
    """A method of a user's own."""
    return type("Own", (SoftmaxMethod,), {"sample_losses": lambda _, *given: sample_losses(*given)})(num_classes=5)


def of_the_wrong(outputs, labels):
    wrong = outputs.argmax(dim=-1) != labels
    return outputs.new_zeros(len(labels)).index_put((wrong.nonzero()[:, 0],), outputs.new_ones(()))


@pytest.mark.parametrize(
    ("sample_losses", "asks"),
    [
        (lambda outputs, labels: (outputs.square().sum(dim=-1) - labels).abs(), False),
        (lambda outputs, _: outputs.sum(dim=-1) * outputs.max().item(), True),
        (lambda outputs, _: outputs.sum(dim=-1) if outputs.max() > 0 else outputs.mean(dim=-1), True),
        (of_the_wrong, True),
        (lambda outputs, _: torch.from_numpy(outputs.detach().numpy()).sum(dim=-1), True),
    ],
    ids=["no", "item", "if", "nonzero", "numpy"],
)
def test_a_method_that_looks_at_numbers_is_found(sample_losses, asks):
    assert asks_for_no_number(method_with(sample_losses)) is not asks


def test_no_method_of_the_catalog_looks_at_numbers_or_is_changed_by_the_question():
    for name in [*(record.name for record in onepeak.methods()), "ce+rnc", "ce+oe", "ce+cloc"]:
        method = onepeak.method(name, num_classes=5, class_weight=torch.arange(1.0, 6.0))
        before = {key: value.clone() for key, value in method.state_dict().items()}
        assert asks_for_no_number(method)
        assert all(torch.equal(before[key], value) for key, value in method.state_dict().items())
        assert all(parameter.grad is None for parameter in method.parameters())


def test_what_looks_at_gradients_or_is_on_a_cpu_is_not_recorded(fabric, monkeypatch):
    assert not can_be_recorded(onepeak.method("ce", num_classes=5), RECIPE, fabric=fabric)
    monkeypatch.setattr(graphs, "graphs_are_on", lambda _: True)
    method = onepeak.method("elb", num_classes=5)
    assert can_be_recorded(method, RECIPE, fabric=fabric)
    assert can_be_recorded(method, RECIPE, fabric=make_fabric(device="cpu", precision="bf16"))
    assert not can_be_recorded(method, replace(RECIPE, clip_norm=1.0), fabric=fabric)
    monkeypatch.setattr(graphs, "loss_scaler_of", lambda _: torch.amp.GradScaler("cpu"))
    assert not can_be_recorded(method, RECIPE, fabric=fabric)


GPU = torch.device("cuda", 0)


@pytest.fixture
def asked_before(monkeypatch):
    """Somebody has asked for so many streams before the first lane does."""
    default, *pool = [Mock(spec=torch.cuda.Stream, cuda_stream=number) for number in range(1 + 32)]

    def ask(number):
        turn = count(number)
        monkeypatch.setattr(graphs, "_KEPT", {})
        monkeypatch.setattr(torch.cuda, "Stream", lambda _: pool[next(turn) % 32])
        monkeypatch.setattr(torch.cuda, "default_stream", lambda _: default)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda _: default)

    return ask


@pytest.mark.parametrize("number", [0, 31, 40])
def test_every_lane_keeps_a_stream_of_its_own_and_none_that_of_a_recording_elsewhere(asked_before, number, monkeypatch):
    asked_before(number)
    given = [stream_to_record_on(GPU), *(lane_stream(GPU, lane) for lane in range(MOST_STREAMS))]
    assert {stream.cuda_stream for stream in given} == set(range(1, 33))
    for _ in range(50):
        torch.cuda.Stream(GPU)
    assert [lane_stream(GPU, lane) for lane in range(MOST_STREAMS)] == given[1:]
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: given[3])
    assert stream_to_record_on(GPU) is given[3]


@pytest.mark.parametrize(
    ("error", "lacked"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (MemoryError(), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (ValueError("out of memory"), False),
    ],
    ids=["allocator", "driver", "library", "machine", "another", "a word"],
)
def test_a_lack_of_memory_is_told_from_other_errors(error, lacked):
    assert is_out_of_memory(error) is lacked
    with pytest.raises(RuntimeError) as real:
        torch.empty(2**60)
    assert is_out_of_memory(real.value)
