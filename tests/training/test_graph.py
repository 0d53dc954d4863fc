"""On a GPU: a recorded training is the eager one, to the bit."""

import numpy as np
import pytest
import torch

from onepeak.data.biopsies import biopsies
from onepeak.data.splits import make_splits
from onepeak.methods.catalog import methods
from onepeak.networks.build import NetworkSettings
from onepeak.training.devices import make_fabric
from onepeak.training.graph import RecordingError, graphs_are_on, recorded_if_it_fits
from onepeak.training.prepare import prepare
from onepeak.training.presets import preset
from onepeak.training.recipe_file import changed
from onepeak.training.run import train_run
from onepeak.training.run_settings import RunSettings

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

        monkeypatch.setattr("onepeak.training.graph.Graph", recording)
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

    monkeypatch.setattr("onepeak.training.graph.Graph", full)
    assert trained(prepared, tmp_path / "full", monkeypatch, graphs="1", method="elb", changes=changes)[1] == expected
