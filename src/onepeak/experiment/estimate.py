"""Estimates the cost of an experiment's runs before any starts."""

import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import torch

from onepeak._core.wording import duration
from onepeak.data.images.store.build import build_store, num_cores
from onepeak.data.images.store.failures import StoreError, UnreadableImagesWarning
from onepeak.data.images.store.images import ImageStore, open_store
from onepeak.data.images.store.index import default_cache_dir, file_states, store_folder, store_key
from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Manifest
from onepeak.data.splits import Split, refuse_leaks, split_notes
from onepeak.data.splits.copies import has_texts
from onepeak.data.splits.split import Indices
from onepeak.experiment.folder import read_failure, read_result
from onepeak.experiment.plan import Experiment, Run, grid
from onepeak.experiment.prepared import (
    PreparedExperiment,
    check_with,
    initial_weights,
    network_of,
    open_manifest,
    recipe_of,
    splits_of,
)
from onepeak.experiment.results import read_history
from onepeak.training.features import features_of, has_features
from onepeak.training.feed import batch_slices
from onepeak.training.prepare import prepare
from onepeak.training.recipe import Recipe
from onepeak.training.run import train_run

if TYPE_CHECKING:
    from lightning.fabric import Fabric

State: TypeAlias = Literal["open", "failed", "finished"]
Result = TypeVar("Result")

_BATCHES = 4
"""Batches in a probe on images."""
_LOOKED_AT = 24
"""Images that are decoded, and that a frozen backbone looks at, to time both."""
_FORWARD = 1 / 3
"""The cost of evaluating a sample, relative to training on it: the backward pass is twice the work of the forward."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """The amount of work in a run."""

    epochs: int
    steps: int
    """Optimiser steps, over all epochs."""
    trained: int
    """Samples trained on, over all epochs."""
    evaluated: int
    """Samples evaluated, over all epochs and at the end."""


def work_of(split: Split, recipe: Recipe) -> Work:
    """Computes the amount of work in a run without early stopping."""
    sizes = split.sizes
    batches = batch_slices(sizes["train"], recipe.batch_size)
    return Work(
        epochs=recipe.epochs,
        steps=recipe.epochs * len(batches),
        trained=recipe.epochs * (batches[-1].stop if batches else 0),
        evaluated=recipe.epochs * sizes["valid"] + sizes["valid"] + sizes["test"],
    )


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


def plan_runs(experiment: Experiment, folder: Path, *, fabric: "Fabric", cache: Path | None = None) -> Estimate:
    """Lists every run of an experiment with its work and estimated time; writes nothing.

    The time is taken from finished runs in the folder, which need not exist, if possible of the same method. Otherwise
    it is measured in a few steps of the first method on a few samples.

    Raises:
        LeakError: The splits leak and the experiment does not allow it.
    """
    manifest = open_manifest(experiment)
    recipe = check_with(manifest, experiment, cache=cache)
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
    found = Probe(backbone=known[0] if known else "", pace=0.0)
    if not known:
        found = probe(experiment, manifest, splits[0], recipe, fabric=fabric, cache=cache)
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
            seconds = work.epochs * fmean(similar) if similar else found.pace * samples
        else:
            seconds = result["seconds"]
        planned.append(
            PlannedRun(run=run, work=work, state=state, seconds=seconds, at_most=at_most, in_company=bool(paces))
        )
    first = [f"first one pass over the images, about {duration(found.first_pass)}"] if found.first_pass >= 1 else []
    return Estimate(
        runs=tuple(planned),
        notes=(*manifest.notes, *split_notes(manifest, splits, parts=("train",)), *first),
        backbone=experiment.network.get("backbone", found.backbone),
    )


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What a few images and a few steps of training tell of the time that all of them take."""

    backbone: str
    pace: float
    """Seconds of training on one sample."""
    decoding: float = 0.0
    """Seconds to decode all images; 0 if they are kept from before."""
    features: float = 0.0
    """Seconds that a frozen backbone takes for all images; 0 without one."""
    has_features: bool = False
    """Whether its features of all images are kept from before."""

    @property
    def first_pass(self) -> float:
        """Seconds until training can begin."""
        return self.decoding + (0.0 if self.has_features else self.features)


def probe(
    experiment: Experiment,
    manifest: Manifest,
    split: Split,
    recipe: Recipe,
    *,
    fabric: "Fabric",
    cache: Path | None = None,
) -> Probe:
    """Decodes a few images, has a frozen backbone look at them, and trains three epochs on a few samples."""
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
        network, first = network_of(experiment, prepared), dict[str, Any]()
        if not isinstance(manifest.items, FeatureRows):
            kept = _kept_store(manifest.items, recipe, cache)
            some = manifest.take(_spread(np.arange(len(manifest)), _LOOKED_AT)).items
            assert not isinstance(some, FeatureRows)
            how: dict[str, Any] = {"bits": recipe.bits, "skip_bad": True, "progress": False}
            store, seconds = _timed(lambda: build_store(some, recipe.resize, cache_dir=Path(place), workers=1, **how))
            if kept is None:
                first["decoding"] = seconds / num_cores() * len(manifest) / len(some)
        if experiment.freeze and not isinstance(manifest.items, FeatureRows):
            given: dict[str, Any] = {"weights": initial_weights(experiment, network), "device": fabric.device}
            first["has_features"] = kept is not None and has_features(kept, network, recipe.augment, **given)
            features, seconds = _timed(lambda: features_of(store, network, recipe.augment, **given, progress=False))
            # The second time they are in the cache, and only the network is built.
            _, building = _timed(lambda: features_of(store, network, recipe.augment, **given, progress=False))
            first["features"] = max(0.0, seconds - building) * len(manifest) / len(store) + building
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
    pace = seconds / (len(few.train) + _FORWARD * len(few.valid))
    return Probe(backbone=network.backbone, pace=pace, **first)


def _kept_store(items: ImageFiles | ImageArrays, recipe: Recipe, cache: Path | None) -> ImageStore | None:
    """Opens the store of all images, if they were decoded before."""
    key = store_key(items, file_states(items) if isinstance(items, ImageFiles) else [], recipe.resize, recipe.bits)
    with suppress(StoreError):
        return open_store(store_folder(cache or default_cache_dir(), key))
    return None


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def _spread(items: Indices, count: int) -> Indices:
    """Returns that many items, evenly spaced from the first to the last."""
    places = np.linspace(0, len(items) - 1, min(count, len(items))).astype(np.int64)
    chosen: Indices = items[places]
    return chosen
