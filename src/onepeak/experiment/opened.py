"""An experiment with its data: what every process that trains its runs needs."""

from dataclasses import dataclass
from pathlib import Path

from onepeak._nearest import did_you_mean_file
from onepeak.data.manifest import Manifest
from onepeak.data.open import open_data
from onepeak.data.splits import Split, find_leaks, make_splits, refuse_leaks
from onepeak.data.splits.digests import data_digest
from onepeak.errors import InputError
from onepeak.experiment.entries import MethodEntry
from onepeak.experiment.plan import Experiment
from onepeak.methods.catalog import method
from onepeak.networks.build import NetworkSettings
from onepeak.training.class_weights import class_weights
from onepeak.training.prepare import Prepared, prepare
from onepeak.training.recipe import Recipe
from onepeak.training.recipe_file import changed, recipe_for
from onepeak.training.run import make_network
from onepeak.training.run_settings import RunSettings
from onepeak.training.trial import try_network


@dataclass(frozen=True, kw_only=True, eq=False)
class Opened:
    """Prepared data, splits, recipe and network. It can be sent to another process, which maps the same pictures."""

    experiment: Experiment
    prepared: Prepared
    splits: tuple[Split, ...]
    recipe: Recipe
    network: NetworkSettings
    leaks: dict[str, tuple[str, ...]]
    """What the parts of a split share, by its name: equal rows of a table, and leaks where these were allowed."""

    def settings(self, entry: MethodEntry) -> RunSettings:
        """What is trained and how, for one method."""
        return RunSettings(
            method=entry.name,
            variant=entry.variant,
            method_settings=entry.settings,
            network=self.network,
            weights=self.experiment.weights_file,
            recipe=recipe_of(entry, self.recipe),
            seed=self.experiment.seed,
        )

    @property
    def digest(self) -> str:
        """By which the data are known again."""
        return data_digest(self.prepared.manifest, self.prepared.digests)


def open_experiment(experiment: Experiment, *, cache: Path | None = None, quiet: bool = False) -> Opened:
    """Opens the data, decodes pictures where that was not done before, and makes the splits.

    Args:
        experiment: The plan.
        cache: Folder for decoded pictures, see `onepeak.data.store.build_store`.
        quiet: Whether to show no progress of decoding.

    Raises:
        LeakError: The splits leak and the experiment does not allow it.
    """
    manifest = open_manifest(experiment)
    recipe = recipe_for(manifest, experiment.recipe, source=experiment.name, prefix="recipe.")
    # What cannot be built or trained is told before any picture is read, and once instead of by every run.
    try_network(manifest, experiment.network, weights=experiment.weights_file)
    for entry in experiment.methods:
        class_weights(recipe_of(entry, recipe).class_weight, manifest.labels, manifest.num_classes)
        method(entry.name, num_classes=manifest.num_classes, variant=entry.variant, **entry.settings)
    splits_of(experiment, manifest)
    prepared = prepare(manifest, recipe, cache_dir=cache, skip_bad=experiment.skip_bad, quiet=quiet)
    splits = splits_of(experiment, prepared.manifest)
    leaks = refuse_leaks(prepared.manifest, splits, digests=prepared.digests, allow=experiment.allow_leak)
    by_split = {
        split.name: tuple(str(leak) for leak in find_leaks(prepared.manifest, split, digests=prepared.digests))
        for split in (splits if leaks else ())
    }
    opened = Opened(
        experiment=experiment,
        prepared=prepared,
        splits=splits,
        recipe=recipe,
        network=prepared.network(experiment.network),
        leaks={name: found for name, found in by_split.items() if found},
    )
    # Which backbone suits pictures is known now, and so whether the weights fit it.
    make_network(opened.settings(experiment.methods[0]), opened.network, manifest.num_classes)
    return opened


def open_manifest(experiment: Experiment) -> Manifest:
    """The data of an experiment, as they lie there."""
    weights = experiment.weights_file
    if weights is not None and not weights.is_file():
        raise InputError(
            f"`weights` must be a file, got {str(weights)!r}, which is not one.{did_you_mean_file(weights)}"
        )
    return open_data(
        experiment.data,
        root=experiment.root,
        order=experiment.order,
        label=experiment.label,
        group=experiment.group,
        path=experiment.path,
        category=experiment.category,
        drop=experiment.drop,
        decimal=experiment.decimal,
        skip_bad=experiment.skip_bad,
    )


def splits_of(experiment: Experiment, manifest: Manifest) -> tuple[Split, ...]:
    """The splits of an experiment, fold after fold."""
    return tuple(
        make_splits(
            manifest,
            protocol=experiment.protocol,
            splits=experiment.splits,
            folds=experiment.folds,
            seed=experiment.seed,
        )
    )


def recipe_of(entry: MethodEntry, recipe: Recipe) -> Recipe:
    """The recipe of one method: all methods', with what is different for it."""
    return changed(recipe, entry.recipe, source=entry.label, prefix="recipe.")
