"""An experiment with its data, as needed by every process that trains its runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onepeak._core.wording import did_you_mean_file
from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest
from onepeak.data.splits import Split, find_leaks, make_splits, refuse_leaks, split_notes
from onepeak.data.splits.copies import conflict_notes, data_digest, has_texts
from onepeak.errors import InputError, together
from onepeak.experiment.plan import Experiment, MethodEntry, RecipeSource
from onepeak.methods.catalog import method
from onepeak.networks.build import NetworkSettings
from onepeak.networks.own_backbone import is_own
from onepeak.training.devices import find_device
from onepeak.training.features import features_of
from onepeak.training.imbalance import class_weights
from onepeak.training.pack import draws_at_random
from onepeak.training.prepare import PRETRAINED, Prepared, prepare, pretrained_file, timm_pixels, try_network
from onepeak.training.presets import recipe_for
from onepeak.training.recipe import Recipe, changed, replaced, without_effect
from onepeak.training.run import RunSettings, make_network


@dataclass(frozen=True, kw_only=True, eq=False)
class PreparedExperiment:
    """Prepared data, splits, recipe and network. It can be sent to another process, which maps the same images."""

    experiment: Experiment
    prepared: Prepared
    splits: tuple[Split, ...]
    recipe: Recipe
    network: NetworkSettings
    leaks: dict[str, tuple[str, ...]]
    """What the parts of a split share, by the split's name: equal rows of a table, and leaks that were allowed."""
    pretrained: Path | None = None
    """The file of timm's own weights, if the experiment asks for them."""

    logger: str = "none"
    """What every epoch of a run is sent to; see `onepeak.training.progress.LoggerWatch`."""
    trial: bool = False
    """Whether runs are trials, which leave the test part alone."""

    @property
    def weights_file(self) -> Path | None:
        """The file of the backbone's initial weights."""
        return self.pretrained or self.experiment.weights_file

    def settings(self, entry: MethodEntry) -> RunSettings:
        """Returns what to train and how, for one method."""
        return RunSettings(
            method=entry.name,
            variant=entry.variant,
            method_settings=entry.settings,
            network=self.network,
            weights=self.weights_file,
            recipe=recipe_of(entry, self.recipe),
            seed=self.experiment.seed,
            features=None if self.prepared.features is None else self.prepared.features.digest,
        )

    def notes_of_run(self, split: Split) -> dict[str, Any]:
        """Returns what the result of a run says besides its settings: samples that its parts share, and licences."""
        leaks, licence = self.leaks.get(split.name), self.experiment.licence
        return {**({"shared_by_parts": list(leaks)} if leaks else {}), **({"licence": licence} if licence else {})}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the data and its splits."""
        manifest = self.prepared.manifest
        copies = conflict_notes(manifest, self.prepared.digests)
        return (*manifest.notes, *self.prepared.notes, *copies, *split_notes(manifest, self.splits, parts=("train",)))

    @property
    def can_pack(self) -> bool:
        """Whether runs may share a process: they share one random stream, so no module may draw random numbers."""
        first, *others = self.experiment.methods
        if any(self.settings(entry).recipe.encoder_lr is not None for entry in self.experiment.methods):
            return False  # encoders of texts have dropout
        classes = self.prepared.manifest.num_classes
        network = make_network(self.settings(first), self.network, classes, features=self.prepared.features)
        methods = (method(one.name, num_classes=classes, variant=one.variant, **one.settings) for one in others)
        return not any(draws_at_random(module) for module in (network, *methods))

    @property
    def digest(self) -> str:
        """A hash that identifies the data."""
        return data_digest(self.prepared.manifest, self.prepared.digests)


def open_experiment(
    experiment: Experiment, *, cache: Path | None = None, quiet: bool = False, device: str = "auto"
) -> PreparedExperiment:
    """Opens the data, decodes images that are not decoded yet, and makes the splits.

    Raises:
        LeakError: The splits leak and the experiment does not allow it.
    """
    manifest = open_manifest(experiment)
    recipe = check_with(manifest, experiment, cache=cache)
    prepared_experiment = prepare_experiment(experiment, manifest, recipe, cache=cache, quiet=quiet, device=device)
    if not experiment.freeze:  # the backbone for images is known now, so the weights can be checked against it
        settings = prepared_experiment.settings(experiment.methods[0])
        make_network(settings, prepared_experiment.network, manifest.num_classes)
    return prepared_experiment


def check_with(
    manifest: Manifest, experiment: Experiment, *, only: tuple[int, int] | None = None, cache: Path | None = None
) -> Recipe:
    """Returns the recipe for the data; refuses what cannot be built, split or trained before any image is decoded.

    `only` is the one split and fold to train; by default all are. `cache` is the folder of decoded images, if not the
    default.
    """
    found = set(manifest.labels.tolist())
    if len(found) == 1:
        raise InputError(
            f"The data must have samples of at least 2 classes to train on, got only {manifest.classes[found.pop()]!r}."
        )
    recipe = checked_recipe(manifest, experiment, cache=cache)
    try_network(manifest, experiment.network, weights=experiment.weights_file)
    backbone = "mlp" if isinstance(manifest.items, FeatureRows) else experiment.network.get("backbone")
    if experiment.weights == PRETRAINED and backbone is not None:
        pretrained_file(backbone)
    for entry in experiment.methods:
        built = method(entry.name, num_classes=manifest.num_classes, variant=entry.variant, **entry.settings)
        if built.counts_samples and manifest.distribution is not None:
            raise InputError(
                f"The schedule of {entry.name!r} counts samples, so it needs one label per sample (--label), got "
                f"`{manifest.label_as}`: use another method.",
                argument=manifest.label_as,
            )
    if experiment.freeze:
        _check_freeze(manifest, experiment)
    items = manifest.items
    if isinstance(items, ImageFiles):  # copies are found when the images are decoded, which reads every file anyway
        manifest = replace(manifest, items=replace(items, digests=items.paths))
    splits_of(experiment, manifest, only=only)
    return recipe


def _check_freeze(manifest: Manifest, experiment: Experiment) -> None:
    """Refuses to freeze where there is nothing to freeze, and pooling of maps that features do not have."""
    backbone = experiment.network.get("backbone", "")
    if isinstance(manifest.items, FeatureRows):
        raise InputError("`freeze` does nothing for a table: leave it out.", argument="freeze")
    if experiment.weights is None and not is_own(backbone):
        raise InputError("`freeze` needs weights that are worth keeping: give --weights too.", argument="freeze")
    for entry in experiment.methods:
        built = method(entry.name, num_classes=manifest.num_classes, variant=entry.variant, **entry.settings)
        if built.asks_features:
            raise InputError(
                f"`freeze` leaves no layers for a term on features to train, got the method {entry.name!r}.",
                argument="freeze",
            )
    if experiment.network.get("pooling", "average") != "average":
        raise InputError(
            f"`pooling` must be 'average' with a frozen backbone, got {experiment.network['pooling']!r}.",
            argument="pooling",
        )


def prepare_experiment(
    experiment: Experiment,
    manifest: Manifest,
    recipe: Recipe,
    *,
    cache: Path | None = None,
    quiet: bool = False,
    only: tuple[int, int] | None = None,
    device: str = "auto",
) -> PreparedExperiment:
    """Decodes images that are not decoded yet, makes the splits, and has a frozen backbone look at images or texts."""
    prepared = prepare(
        manifest,
        recipe,
        cache_dir=cache,
        skip_bad=experiment.source.skip_bad,
        quiet=quiet,
        encoder=experiment.network.get("backbone"),
        device=find_device(device) if has_texts(manifest.items) else "cpu",
    )
    splits = splits_of(experiment, prepared.manifest, only=only)
    leaks = refuse_leaks(prepared.manifest, splits, digests=prepared.digests, allow=experiment.allow_leak)
    by_split = {
        split.name: tuple(str(leak) for leak in find_leaks(prepared.manifest, split, digests=prepared.digests))
        for split in (splits if leaks else ())
    }
    network = network_of(experiment, prepared)
    weights = initial_weights(experiment, network)
    if experiment.freeze and prepared.store is not None:
        features = features_of(
            prepared.store,
            network,
            recipe.augment,
            weights=weights,
            device=find_device(device),
            progress=False if quiet else None,
        )
        prepared = replace(prepared, features=features)
    return PreparedExperiment(
        experiment=experiment,
        prepared=prepared,
        splits=splits,
        recipe=recipe,
        network=network,
        leaks={name: found for name, found in by_split.items() if found},
        pretrained=weights if experiment.weights == PRETRAINED else None,
    )


def initial_weights(experiment: Experiment, network: NetworkSettings) -> Path | None:
    """Returns the file of the backbone's initial weights; timm's own are fetched if they are asked for."""
    return pretrained_file(network.backbone) if experiment.weights == PRETRAINED else experiment.weights_file


def network_of(experiment: Experiment, prepared: Prepared) -> NetworkSettings:
    """Returns the network of all runs, with the pixels that its weights were trained on if they are timm's own."""
    network = prepared.network(experiment.network)
    if experiment.freeze and not is_own(network.backbone):
        network = replace(network, pooling="average")
    own = "timm" if experiment.weights == PRETRAINED else "paper"
    if network.mean is not None or (experiment.normalise or own) == "paper":
        return network
    return replace(network, **timm_pixels(network.backbone))  # type: ignore[arg-type]


def open_manifest(experiment: Experiment) -> Manifest:
    """Opens the data of an experiment."""
    weights = experiment.weights_file
    if weights is not None and not weights.is_file():
        raise InputError(
            f"`weights` must be a file, or pretrained for timm's own, got {str(weights)!r}, which is not a file."
            f"{did_you_mean_file(weights)}",
            argument="weights",
        )
    return experiment.source.open()


def splits_of(experiment: Experiment, manifest: Manifest, *, only: tuple[int, int] | None = None) -> tuple[Split, ...]:
    """Returns the splits of an experiment, fold after fold, or only one split and fold."""
    settings = {name: getattr(experiment, name) for name in ("protocol", "splits", "folds", "seed")}
    splits = tuple(make_splits(manifest, **settings))
    chosen = tuple(split for split in splits if only in (None, (split.split, split.fold)))
    if only is not None and not chosen:
        folds = sorted({split.fold for split in splits})
        raise InputError(
            f"`fold` must be one of the protocol's folds ({folds[0]} to {folds[-1]}), got {only[1]}.", argument="fold"
        )
    return chosen


def recipe_of(entry: MethodEntry, recipe: Recipe) -> Recipe:
    """Returns the recipe of one method: the common one with the method's changes."""
    return changed(recipe, entry.recipe, source=entry.label, prefix="recipe.")


def checked_recipe(manifest: Manifest, experiment: Experiment, *, cache: Path | None = None) -> Recipe:
    """Returns the common recipe of all methods; refuses settings that do not suit the data or do nothing.

    Raises:
        InputError: All that is wrong, with file and key.
    """
    common = experiment.recipe_source or RecipeSource(file=experiment.name, prefix="recipe.")
    recipe = recipe_for(
        manifest,
        experiment.recipe,
        source=common.file,
        prefix=common.prefix,
        frozen=experiment.freeze,
        cache=cache,
    )
    backbone = experiment.network.get("backbone")

    def useless(given: Mapping[str, Any], recipes: Sequence[Recipe], prefix: str) -> Iterator[InputError]:
        for problem in without_effect(given, recipes, manifest, backbone=backbone, frozen=experiment.freeze):
            yield problem.at(prefix + problem.key)

    recipes: list[Recipe] = []
    of_methods: list[InputError] = []
    for entry in experiment.methods:
        found: list[InputError] = []
        prefix = f"methods.{entry.label}.recipe."
        recipes.append(replaced(recipe, entry.recipe, prefix, found))
        if not found:
            found += [*useless(entry.recipe, recipes[-1:], prefix), *_weight_problems(entry.recipe, prefix, manifest)]
        of_methods += [problem.at(file=experiment.file or experiment.name) for problem in found]
    of_all: list[InputError] = []
    for key, value in experiment.recipe.items():
        if key not in common.exempt:
            users = [own for entry, own in zip(experiment.methods, recipes, strict=True) if key not in entry.recipe]
            of_all += useless({key: value}, users, common.prefix)
    of_all += _weight_problems(experiment.recipe, common.prefix, manifest)
    tuned = [replace(own, **changes) for own in recipes for changes in experiment.trials]
    of_all += useless(experiment.tune, tuned, "tune.")
    for name in experiment.tune:
        if name in experiment.recipe and name not in common.exempt:
            text = (
                f"`tune` must leave {name} alone, as it was given ({experiment.recipe[name]!r}): give one of the two."
            )
            of_all.append(InputError(text, key=f"tune.{name}"))
    if problems := [*(problem.at(file=common.file) for problem in of_all), *of_methods]:
        raise together(problems)
    return recipe


def _weight_problems(given: Mapping[str, Any], prefix: str, manifest: Manifest) -> Iterator[InputError]:
    if "class_weight" in given:
        try:
            class_weights(given["class_weight"], manifest.labels, manifest.num_classes)
        except InputError as error:
            yield error.at(f"{prefix}class_weight")
