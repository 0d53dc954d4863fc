"""The methods of an experiment, each with its variant, settings and label."""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from onepeak.errors import InputError
from onepeak.methods.catalog import method, methods
from onepeak.methods.method import Variant
from onepeak.training.recipe import Recipe
from onepeak.training.recipe_file import replaced

PAPER_METHODS = ("ce", "ren", "ld", "mv", "po", "pn", "elb")
"""The rows of the tables in Belharbi et al. 2019."""

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._=-]{0,99}")


@dataclass(frozen=True, kw_only=True)
class MethodEntry:
    """One row of the comparison's table; validated on construction, before any data is read.

    Example:
        >>> MethodEntry(name="ld", variant="as_published").label
        'ld-as_published'
        >>> MethodEntry(name="ren", settings={"posterior": "slopes"}).label
        'ren-posterior-slopes'
    """

    name: str
    """A name for `onepeak.method`: "elb", "mv+elb"."""
    variant: Variant = "corrected"
    settings: dict[str, Any] = field(default_factory=dict)
    """The method's own settings, such as t."""
    recipe: dict[str, Any] = field(default_factory=dict)
    """Recipe settings that differ for this method, such as its epochs; image settings are the same for all methods."""
    label: str = ""
    """The name of its row and folder; by default made of the method, variant and settings."""

    def __post_init__(self) -> None:
        for name in ("settings", "recipe"):
            if not isinstance(getattr(self, name), Mapping):
                raise InputError(f"`{name}` must be a table, got {getattr(self, name)!r}.")
        method(str(self.name), num_classes=2, variant=self.variant, **self.settings)
        for name in self.recipe:
            if name in ("resize", "augment", "bits"):
                raise InputError(f"`recipe.{name}` must be the same for all methods: give it to the experiment.")
        problems: list[str] = []
        replaced(Recipe(optimizer="sgd"), self.recipe, "recipe.", problems)
        if problems:
            raise InputError(" ".join(problems))
        object.__setattr__(self, "label", self.label or self._default_label())
        if not isinstance(self.label, str) or not _LABEL.fullmatch(self.label):
            raise InputError(
                "`label` must be a folder name (letters, digits and + . _ = -, at most 100, starting with a letter "
                f"or digit), got {self.label!r}."
            )

    def _default_label(self) -> str:
        words = [self.name] if self.variant == "corrected" else [self.name, self.variant]
        for name, value in self.settings.items():
            words += [name, str(value)]
        return re.sub(r"[^A-Za-z0-9+._=-]+", "_", "-".join(words))


def entries_from_text(text: str, known: Iterable[MethodEntry] = ()) -> tuple[MethodEntry, ...]:
    """Reads `--methods`: comma-separated names, each with an optional variant and settings after colons.

    Args:
        text: As in "ce,elb:t=2:growth=1.01,ld:as_published"; "paper" stands for the seven methods of the paper, "all"
            for the catalog.
        known: Entries that can be referred to by label, also as a base for other settings.

    Example:
        >>> [entry.label for entry in entries_from_text("ce,ld:as_published,elb:t=2")]
        ['ce', 'ld-as_published', 'elb-t-2']
    """
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise InputError(f"`--methods` must be comma-separated names, as in ce,elb, got {text!r}.")
    by_label = {entry.label: entry for entry in known}
    texts = [each for word in words for each in _names(word)]
    return tuple(by_label[each] if each in by_label else entry_from_text(each, by_label) for each in texts)


def _names(word: str) -> tuple[str, ...]:
    """Returns the methods that a word stands for."""
    match word:
        case "paper":
            return PAPER_METHODS
        case "all":
            return tuple(record.name for record in methods())
        case _:
            return (word,)


def entry_from_text(text: str, by_label: Mapping[str, MethodEntry] | None = None) -> MethodEntry:
    """Reads one entry, such as "ld:as_published" or "ren:posterior=slopes"."""
    name, variant, settings = name_and_settings(text)
    base = (by_label or {}).get(name)
    if base is None:
        return MethodEntry(name=name, variant=variant or "corrected", settings=settings)
    return replace(base, variant=variant or base.variant, settings=base.settings | settings, label="")


def name_and_settings(text: str) -> tuple[str, Variant | None, dict[str, Any]]:
    """Splits an entry at its colons: the method's name, its variant if given, its settings.

    Example:
        >>> name_and_settings("elb:t=2:growth=1.01")
        ('elb', None, {'t': 2, 'growth': 1.01})
    """
    name, *parts = text.split(":")
    variant: Variant | None = None
    settings: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if equals and key:
            settings[key] = setting_value(value)
        else:
            variant = part  # type: ignore[assignment]  # checked with all else
    return name, variant, settings


def setting_value(text: str) -> object:
    """Parses a value from the command line: numbers, true and false are converted, everything else is text.

    Example:
        >>> [setting_value(text) for text in ("1.5", "true", "slopes")]
        [1.5, True, 'slopes']
    """
    if text in ("true", "false"):
        return text == "true"
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value
