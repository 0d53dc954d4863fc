"""Every method of the catalog on the data that comes with onepeak: ten seconds a method on one core."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.splits import make_splits
from onepeak.methods.catalog import METHODS
from onepeak.training.devices import make_fabric
from onepeak.training.prepare import prepare
from onepeak.training.presets import preset
from onepeak.training.run import RunSettings, train_run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data():
    manifest = biopsies(400)
    return prepare(manifest, replace(preset("auto", manifest), epochs=10), quiet=True)


@pytest.fixture(scope="module")
def split(data):
    return make_splits(data.manifest, splits=1)[0]


@pytest.mark.parametrize("method", [record.name for record in METHODS])
def test_it_is_better_than_the_best_constant_answer(data, split, method, tmp_path):
    recipe = replace(preset("auto", data.manifest), epochs=10)
    settings = RunSettings(method=method, network=data.suits(), recipe=recipe)
    result = train_run(settings, data, split, tmp_path / "run", fabric=make_fabric(device="cpu"))
    found = result["metrics"]["test"]
    sys.stdout.write(
        f"\n{method:18} mae {found['mae']:.3f}  soi {found['soi_predicted']:.3f}  {result['seconds']:.0f} s"
    )
    labels = data.manifest.labels[split.test]
    constants = np.arange(data.manifest.num_classes)[:, None]
    assert found["mae"] < 0.75 * np.abs(labels - constants).mean(axis=1).min()


def test_the_log_barrier_puts_posteriors_in_order_and_cross_entropy_does_not(tmp_path):
    manifest = biopsies(800)
    recipe = preset("auto", manifest)
    data = prepare(manifest, recipe, quiet=True)
    split = make_splits(manifest, splits=1)[0]
    metrics = {}
    for method in ("ce", "elb", "slopes", "po"):
        settings = RunSettings(method=method, network=data.suits(), recipe=recipe)
        fabric = make_fabric(device="cpu")
        metrics[method] = train_run(settings, data, split, tmp_path / method, fabric=fabric)["metrics"]["test"]
    assert metrics["ce"]["soi_predicted"] < 0.97
    assert min(metrics["elb"]["soi_predicted"], metrics["slopes"]["soi_predicted"]) >= 0.97
    assert metrics["po"]["unimodal"] == 1.0
