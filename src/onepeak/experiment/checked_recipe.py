"""The recipe of an experiment, checked with its data and methods: some mistakes do not show in a file alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onepeak.data.manifest import Manifest
from onepeak.errors import InputError
from onepeak.experiment.plan import Experiment
from onepeak.training.class_weights import class_weights
from onepeak.training.recipe import Recipe
from onepeak.training.recipe_file import recipe_for, replaced
from onepeak.training.recipe_source import RecipeSource
from onepeak.training.without_effect import without_effect


def checked_recipe(manifest: Manifest, experiment: Experiment) -> Recipe:
    """Returns the common recipe of all methods; refuses settings that do not suit the data or do nothing.

    The file of a comparison's folder has all settings, also those without effect, which are then accepted.

    Raises:
        InputError: All that is wrong, with file and key.
    """
    name = experiment.name
    common = experiment.recipe_source or RecipeSource(file=name, prefix="recipe.")
    recipe = recipe_for(manifest, experiment.recipe, source=common.file, prefix=common.prefix)
    problems: list[str] = []
    recipes: list[Recipe] = []
    for entry in experiment.methods:
        found: list[str] = []
        prefix = f"methods.{entry.label}.recipe."
        recipes.append(replaced(recipe, entry.recipe, prefix, found))
        given = {} if found else entry.recipe
        found += _problems(given, recipes[-1:], prefix, manifest, experiment, complete=common.complete)
        problems += [f"{experiment.file or name}: {problem}" for problem in found]
    of_all = _problems(experiment.recipe, recipes, common.prefix, manifest, experiment, complete=common.complete)
    if problems := [*(f"{common.file}: {problem}" for problem in of_all), *problems]:
        raise InputError("\n".join(problems))
    return recipe


def _problems(
    given: Mapping[str, Any],
    recipes: Sequence[Recipe],
    prefix: str,
    manifest: Manifest,
    experiment: Experiment,
    *,
    complete: bool,
) -> Iterator[str]:
    """Yields what is wrong with the settings of some recipes."""
    if not complete:
        for key, problem in without_effect(given, recipes, manifest, backbone=experiment.network.get("backbone")):
            yield f"{prefix}{key}: {problem}"
    if "class_weight" in given:
        try:
            class_weights(given["class_weight"], manifest.labels, manifest.num_classes)
        except InputError as error:
            yield f"{prefix}class_weight: {error}"
