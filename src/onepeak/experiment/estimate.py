"""Estimates the cost of an experiment's runs before any starts."""

import tempfile
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import torch

from onepeak._core.wording import duration
from onepeak.data.images.store.failures import UnreadableImagesWarning
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.splits import Split, refuse_leaks
from onepeak.data.splits.copies import has_texts
from onepeak.data.splits.split import Indices
from onepeak.experiment.folder import read_failure, read_result
from onepeak.experiment.grid import Run, Work, grid, work_of
from onepeak.experiment.plan import Experiment
from onepeak.experiment.prepared import (
    PreparedExperiment,
    check_with,
    initial_weights,
    network_of,
    notes_on_splits,
    open_manifest,
    recipe_of,
    splits_of,
)
from onepeak.experiment.results import read_history
from onepeak.training.features import features_of
from onepeak.training.prepare import prepare
from onepeak.training.recipe import Recipe
from onepeak.training.run import train_run

if TYPE_CHECKING:
    from lightning.fabric import Fabric

State: TypeAlias = Literal["open", "failed", "finished"]

_BATCHES = 4
"""Batches in a probe on images."""
_LOOKED_AT = 24
"""Images that a frozen backbone looks at in a probe."""
_FORWARD = 1 / 3
"""The cost of evaluating a sample, relative to training on it: the backward pass is twice the work of the forward."""


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """A run with its estimated cost."""

    run: Run
    work: Work
    state: State
    """A failed run will be tried again."""
    seconds: float
    """Estimated; for a finished run the time it took."""
    at_most: bool
    """Whether early stopping may reduce work and time; false for a finished run."""
    in_company: bool
    """Whether the time was measured in runs that shared the machine with others, not in a run alone."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """All runs of an experiment, and what can be said of its data before all images are decoded."""

    runs: tuple[PlannedRun, ...]
    notes: tuple[str, ...]
    """Those on the data and the splits, as before the training, without those on single images."""
    backbone: str
    """That of the network which would be trained; empty if only decoding all images would tell."""


def plan_runs(experiment: Experiment, folder: Path, *, fabric: "Fabric") -> Estimate:
    """Lists every run of an experiment with its work and estimated time; writes nothing.

    The time is taken from finished runs in the folder, which need not exist, if possible of the same method. Otherwise
    it is measured in a few steps of the first method on a few samples.

    Raises:
        LeakError: The splits leak and the experiment does not allow it.
    """
    manifest = open_manifest(experiment)
    recipe = check_with(manifest, experiment)
    splits = splits_of(experiment, manifest)
    refuse_leaks(manifest, splits, allow=experiment.allow_leak)
    runs = grid(experiment.methods, splits)
    by_number = {(split.split, split.fold): split for split in splits}
    results = [read_result(run.folder(folder)) for run in runs]
    paces: dict[str, list[float]] = {}
    for run, result in zip(runs, results, strict=True):
        if result is not None:
            paces.setdefault(run.entry.label, []).append(result["seconds"] / result["epochs"])
    known = [result.get("network", {}).get("backbone", "") for result in results if result is not None]
    backbone, pace, once = known[0] if known else "", 0.0, 0.0
    if not known:
        backbone, pace, once = probe(experiment, manifest, splits[0], recipe, fabric=fabric)
    planned = []
    for run, result in zip(runs, results, strict=True):
        state: State = "finished"
        own = recipe_of(run.entry, recipe)
        own = replace(own, epochs=own.epochs * len(experiment.trials))
        work = work_of(by_number[run.split, run.fold], own)
        at_most = own.patience is not None and result is None
        if result is None:
            state = "open" if read_failure(run.folder(folder)) is None else "failed"
            similar = paces.get(run.entry.label) or [each for label in paces.values() for each in label]
            samples = work.trained + _FORWARD * work.evaluated
            seconds = work.epochs * fmean(similar) if similar else pace * samples
        else:
            seconds = result["seconds"]
        planned.append(
            PlannedRun(run=run, work=work, state=state, seconds=seconds, at_most=at_most, in_company=bool(paces))
        )
    first = [f"first one pass over the images by {backbone}, about {duration(once)}"] if once else []
    return Estimate(
        runs=tuple(planned),
        notes=(*manifest.notes, *notes_on_splits(manifest, splits), *first),
        backbone=experiment.network.get("backbone", backbone),
    )


def probe(
    experiment: Experiment, manifest: Manifest, split: Split, recipe: Recipe, *, fabric: "Fabric"
) -> tuple[str, float, float]:
    """Trains three epochs on a few samples; returns the backbone, the seconds per sample, and those of all features."""
    parts = list(split.parts.values())
    if not isinstance(manifest.items, FeatureRows) or recipe.encoder_lr is not None:
        most = (_BATCHES * recipe.batch_size, recipe.batch_size, 1)
        parts = [_spread(part, count) for part, count in zip(parts, most, strict=True)]
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreadableImagesWarning)  # training will report them
        sample = manifest.take(np.concatenate(parts))
        prepared = prepare(
            sample,
            recipe,
            cache_dir=None if has_texts(manifest.items) else Path(place),  # texts are not read again
            skip_bad=True,
            keep_classes=False,
            quiet=True,
            encoder=experiment.network.get("backbone"),
            device=fabric.device,
        )
        valid, test = len(prepared.manifest) - len(parts[1]) - len(parts[2]), len(prepared.manifest) - len(parts[2])
        items = np.arange(len(prepared.manifest))
        few = Split(train=items[:valid], valid=items[valid:test], test=items[test:], protocol="probe")
        network, once = network_of(experiment, prepared), 0.0
        if experiment.freeze and prepared.store is not None:
            weights = initial_weights(experiment, network)
            some = manifest.take(_spread(np.arange(len(manifest)), _LOOKED_AT))
            store = prepare(some, recipe, cache_dir=Path(place), skip_bad=True, keep_classes=False, quiet=True).store
            assert store is not None
            times = []
            for _ in range(2):  # the second time they are in the cache, and only the network is built
                start, given = time.perf_counter(), {"weights": weights, "device": fabric.device}
                features = features_of(store, network, recipe.augment, **given, progress=False)  # type: ignore[arg-type]
                times.append(time.perf_counter() - start)
            once = max(0.0, times[0] - times[1]) * len(manifest) / len(store) + times[1]
            again = torch.arange(len(prepared.manifest)) % len(store)  # whose they are does not matter
            prepared = replace(prepared, features=replace(features, values=features.values[again]))
        prepared_experiment = PreparedExperiment(
            experiment=experiment,
            prepared=prepared,
            splits=(few,),
            recipe=replace(recipe, epochs=3, patience=None),
            network=network,
            leaks={},
        )
        settings = prepared_experiment.settings(replace(experiment.methods[0], recipe={}))
        train_run(settings, prepared, few, Path(place, "run"), fabric=fabric)
        # The first epoch includes one-off loading and, on a GPU, the second includes recording graphs.
        seconds = float(read_history(Path(place, "run"))["seconds"].iloc[-1])
    return network.backbone, seconds / (len(few.train) + _FORWARD * len(few.valid)), once


def _spread(items: Indices, count: int) -> Indices:
    """Returns that many items, evenly spaced from the first to the last."""
    places = np.linspace(0, len(items) - 1, min(count, len(items))).astype(np.int64)
    chosen: Indices = items[places]
    return chosen
