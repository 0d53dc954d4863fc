"""A small experiment that is ready to train, four runs of about a second; and comparisons of it."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pandas as pd

from forked import output_of
from onepeak._core.files import locked
from onepeak.data import DataSource
from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.splits import make_splits
from onepeak.experiment.plan import Experiment, MethodEntry
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.networks.build import NetworkSettings
from onepeak.training.prepare import prepare
from onepeak.training.presets import SMALL_IMAGES

METHODS = ("ce", "elb")


def tiny(cache, *entries, num_splits=2, epochs=4, patience=None, seed=0):
    """Sixty biopsies of sixteen pixels, split by patient; each entry a name or a `MethodEntry`."""
    methods = tuple(MethodEntry(name=each) if isinstance(each, str) else each for each in entries or METHODS)
    manifest = biopsies(60, size=16)
    recipe = replace(SMALL_IMAGES, epochs=epochs, patience=patience, batch_size=8)
    prepared = prepare(manifest, recipe, cache_dir=cache, quiet=True)
    return PreparedExperiment(
        experiment=Experiment(
            name="tiny", source=DataSource("biopsies"), methods=methods, protocol="holdout", seed=seed
        ),
        prepared=prepared,
        splits=tuple(make_splits(manifest, protocol="holdout", splits=num_splits, seed=seed)),
        recipe=recipe,
        network=NetworkSettings(backbone="small"),
        leaks={},
    )


def files_of(folder):
    """The files that a user sees, by their path in the folder."""
    return {
        str(path.relative_to(folder)): path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def process_is_alive(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def made_once(script, tmp_path_factory, worker_id):
    """The folder that a script of this folder filled, and the facts that it printed."""
    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / Path(script).stem
    place.mkdir(exist_ok=True)
    facts = place / "facts.json"
    with locked(place / "lock"):
        if not facts.exists():
            facts.write_text(output_of(Path(__file__).parent / script, place))
    return place, json.loads(facts.read_text())


def assert_same_runs(found, expected):
    """Two folders hold the same runs, bit for bit but for times."""
    names = {name for name in files_of(expected) if name.startswith("runs/")}
    assert {name for name in files_of(found) if name.startswith("runs/")} == names
    runs = [path.parent.relative_to(expected) for path in expected.rglob("result.json")]
    assert runs
    for run in runs:
        one, other = found / run, expected / run
        for name in ("model.safetensors", "predictions.parquet", "onepeak.json"):
            assert (one / name).read_bytes() == (other / name).read_bytes()
        histories = [pd.read_csv(folder / "history.csv").drop(columns="seconds") for folder in (one, other)]
        pd.testing.assert_frame_equal(*histories, check_exact=True)
        results = [json.loads((folder / "result.json").read_text()) for folder in (one, other)]
        assert results[0] | {"seconds": 0} == results[1] | {"seconds": 0}
