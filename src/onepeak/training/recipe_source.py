"""Where the settings of a recipe were given, so that messages can name the file and the key."""

from dataclasses import dataclass

RECORD = "record"
"""The table that `onepeak compare` adds to the settings of an experiment: what was found when it began."""


@dataclass(frozen=True, kw_only=True)
class RecipeSource:
    """The file of a recipe."""

    file: str
    """The file, or the experiment's name if there is none."""
    prefix: str = ""
    """Prefix of the keys in the file."""
    complete: bool = False
    """Whether onepeak wrote the file: it then has a value for every setting, whether it has an effect or not."""
