"""The recipe that `--recipe` names, and where its settings were given, for messages with file and key."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onepeak._registry import unknown_name
from onepeak.errors import InputError
from onepeak.experiment.config_file import RECORD
from onepeak.training.presets import PAPER, PRESETS
from onepeak.training.recipe import Recipe
from onepeak.training.recipe_file import BASE, changed
from onepeak.training.toml_file import read_toml


@dataclass(frozen=True, kw_only=True)
class RecipeSource:
    """The file of a recipe."""

    file: str
    """The file, or the experiment's name if there is none."""
    prefix: str = ""
    """Prefix of the keys in the file."""
    exempt: frozenset[str] = frozenset()
    """Settings that may have no effect: those of a file that onepeak wrote, which has a value for every setting, or of
    a file only some of whose methods are trained."""

    def changed_by(self, flags: Iterable[str]) -> "RecipeSource":
        """Returns the source of a recipe some of whose settings came by flags; these must have an effect."""
        return replace(self, exempt=self.exempt.difference(flags))


def read_recipe(name: str) -> tuple[dict[str, Any], RecipeSource | None]:
    """Reads the settings that `--recipe` names, a preset or a file, and returns where they were given.

    A file looks like this; every line is optional::

        base = "paper"
        epochs = 40
        lr = 3e-4
        [resize]
        short_side = 256
        [augment]
        crop = 224
        vertical_flip = true

    From an experiment file, the table `recipe` is read.

    Example:
        >>> read_recipe("paper")
        ({'base': 'paper'}, None)
    """
    if name in PRESETS:
        return {BASE: name}, None
    content = read_toml(Path(name), wanted="`--recipe` must be auto, paper or a TOML file")
    table = content.get("recipe")
    if not isinstance(table, dict) and "network" in content:
        raise InputError(
            f"{name}: [network] is not part of a recipe: use --backbone and --network, or an experiment file.",
            page="recipes",
        )
    settings, prefix = (table, "recipe.") if isinstance(table, dict) else (content, "")
    base = settings.get(BASE, "auto")
    if base not in PRESETS:
        raise InputError(f"{name}: {prefix}{BASE}: {unknown_name('recipe', str(base), PRESETS)}")
    # What suits the data is checked with the data.
    rest = {key: value for key, value in settings.items() if key != BASE}
    changed(PAPER if base == "paper" else Recipe(), rest, source=name, prefix=prefix)
    exempt = frozenset(settings) if RECORD in content else frozenset()
    return settings, RecipeSource(file=name, prefix=prefix, exempt=exempt)
