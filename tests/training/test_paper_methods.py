"""The paper's methods, and our own, on the data that comes with onepeak: minutes on two cores."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.splits import make_splits
from onepeak.training.devices import make_fabric
from onepeak.training.prepare import prepare
from onepeak.training.presets import preset
from onepeak.training.run import RunSettings, train_run

METHODS = ("ce", "ren", "ld", "mv", "po", "pn", "elb", "slopes")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data():
    manifest = biopsies(800)
    return prepare(manifest, replace(preset("auto", manifest), epochs=15), quiet=True)


@pytest.fixture(scope="module")
def split(data):
    return make_splits(data.manifest, splits=1)[0]


@pytest.fixture(scope="module")
def figures(data, split, tmp_path_factory):
    """The test metrics of every method, printed as a table."""
    recipe = replace(preset("auto", data.manifest), epochs=15)
    found = {}
    for method in METHODS:
        settings = RunSettings(method=method, network=data.suits(), recipe=recipe)
        folder = tmp_path_factory.mktemp(method)
        result = train_run(settings, data, split, folder, fabric=make_fabric(device="cpu"))
        found[method] = result["metrics"]["test"]
        values = "  ".join(f"{name} {found[method][name]:.3f}" for name in ("mae", "soi_predicted", "unimodal"))
        sys.stdout.write(f"\n{method:8} {values}  best epoch {result['best_epoch']}  {result['seconds']:.0f} s")
    return found


@pytest.mark.parametrize("method", METHODS)
def test_it_is_clearly_better_than_the_best_constant_answer(figures, data, split, method):
    labels = data.manifest.labels
    constant = np.median(labels[split.train]).round()
    assert figures[method]["mae"] < 0.7 * np.abs(labels[split.test] - constant).mean()


def test_the_log_barrier_puts_posteriors_in_order_and_cross_entropy_does_not(figures):
    assert figures["elb"]["soi_predicted"] >= 0.97
    assert figures["ce"]["soi_predicted"] < 0.97


def test_posteriors_with_one_peak_by_construction_have_one(figures):
    assert figures["po"]["unimodal"] == 1.0
    assert figures["slopes"]["soi_predicted"] >= 0.97
