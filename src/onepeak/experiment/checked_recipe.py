"""The recipe of an experiment, checked with its data and methods: some mistakes do not show in a file alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onepeak.data.manifest import Manifest
from onepeak.errors import InputError
from onepeak.experiment.plan import Experiment
from onepeak.experiment.recipe_source import RecipeSource
from onepeak.training.class_weights import class_weights
from onepeak.training.recipe import Recipe
from onepeak.training.recipe_file import recipe_for, replaced
from onepeak.training.without_effect import without_effect


def checked_recipe(manifest: Manifest, experiment: Experiment) -> Recipe:
    """Returns the common recipe of all methods; refuses settings that do not suit the data or do nothing.

    Raises:
        InputError: All that is wrong, with file and key.
    """
    common = experiment.recipe_source or RecipeSource(file=experiment.name, prefix="recipe.")
    recipe = recipe_for(manifest, experiment.recipe, source=common.file, prefix=common.prefix)
    recipes: list[Recipe] = []
    of_methods: list[str] = []
    for entry in experiment.methods:
        found: list[str] = []
        prefix = f"methods.{entry.label}.recipe."
        recipes.append(replaced(recipe, entry.recipe, prefix, found))
        if not found:
            found += _without_effect(entry.recipe, recipes[-1:], prefix, manifest, experiment)
            found += _weight_problems(entry.recipe, prefix, manifest)
        of_methods += [f"{experiment.file or experiment.name}: {problem}" for problem in found]
    of_all: list[str] = []
    for key, value in experiment.recipe.items():
        if key not in common.exempt:
            users = [own for entry, own in zip(experiment.methods, recipes, strict=True) if key not in entry.recipe]
            of_all += _without_effect({key: value}, users, common.prefix, manifest, experiment)
    of_all += _weight_problems(experiment.recipe, common.prefix, manifest)
    if problems := [*(f"{common.file}: {problem}" for problem in of_all), *of_methods]:
        raise InputError("\n".join(problems))
    return recipe


def _without_effect(
    given: Mapping[str, Any], recipes: Sequence[Recipe], prefix: str, manifest: Manifest, experiment: Experiment
) -> Iterator[str]:
    for key, problem in without_effect(given, recipes, manifest, backbone=experiment.network.get("backbone")):
        yield f"{prefix}{key}: {problem}"


def _weight_problems(given: Mapping[str, Any], prefix: str, manifest: Manifest) -> Iterator[str]:
    if "class_weight" in given:
        try:
            class_weights(given["class_weight"], manifest.labels, manifest.num_classes)
        except InputError as error:
            yield f"{prefix}class_weight: {error}"
