"""Two models that are really trained, once for all tests of a process: one of images, one of a table."""

import atexit
import shutil
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from onepeak._core.digests import DIGESTS
from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.images.resize import Resize
from onepeak.data.manifest import Manifest
from onepeak.data.source import DataSource
from onepeak.data.splits import Split, make_splits
from onepeak.networks.build import NetworkSettings
from onepeak.training.devices import make_fabric
from onepeak.training.prepare import Prepared, prepare
from onepeak.training.presets import preset
from onepeak.training.recipe import Recipe
from onepeak.training.run import RunSettings, train_run


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedRun:
    """A run and all it was made of."""

    folder: Path
    result: dict
    manifest: Manifest
    prepared: Prepared
    split: Split
    recipe: Recipe


@cache
def image_run():
    """Sixty biopsies, resized, so that a model that forgets to resize is noticed."""
    manifest = biopsies(60)
    recipe = replace(preset("auto", manifest), epochs=1, batch_size=32, resize=Resize(short_side=48))
    return _train(manifest, recipe, NetworkSettings(backbone="small"), _folder())


TABLE_CLASSES = ("low", "middle", "high")


@cache
def table_run():
    """A number with missing values, a category some of whose names are numbers, and text labels."""
    folder = _folder()
    path = write_table(folder / "grades.csv", 90)
    manifest = DataSource(path, label="grade", order=TABLE_CLASSES).open()
    recipe = replace(preset("auto", manifest), epochs=5)
    return _train(manifest, recipe, NetworkSettings(backbone="mlp", num_features=1), folder)


def write_table(path, num_rows):
    """Rows whose grade follows from their size and tone."""
    rng = np.random.default_rng(0)
    lines = ["size,tone,grade"]
    for row in range(num_rows):
        grade = row % 3
        size = "" if row % 10 == 9 else f"{grade + 0.3 * rng.standard_normal():.4f}"
        lines.append(f"{size},{('1', '2', 'dark')[(grade + row % 2) % 3]},{TABLE_CLASSES[grade]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def _train(manifest, recipe, network, folder):
    prepared = prepare(manifest, recipe, cache_dir=folder / "cache", quiet=True)
    split = make_splits(manifest, splits=1)[0]
    settings = RunSettings(method="elb", network=network, recipe=recipe)
    result = train_run(settings, prepared, split, folder / "run", fabric=make_fabric(device="cpu"))
    return TrainedRun(
        folder=folder / "run", result=result, manifest=manifest, prepared=prepared, split=split, recipe=recipe
    )


def _folder():
    place = tempfile.TemporaryDirectory()
    atexit.register(place.cleanup)
    return Path(place.name)


def changeable(folder, copy):
    """Copies a model's folder without its digests, so that a test may change its files."""
    return shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(DIGESTS))
