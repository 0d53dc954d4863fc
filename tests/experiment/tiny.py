"""A small experiment that is ready to train: four runs of about a second."""

import os
from dataclasses import replace

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
