"""An experiment as one frozen record, validated before any data is read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from onepeak._check import check_choice, check_integer
from onepeak._home import expanded
from onepeak._registry import unknown_name
from onepeak.errors import InputError
from onepeak.experiment.entries import MethodEntry
from onepeak.experiment.recipe_source import RecipeSource
from onepeak.networks.build import NetworkSettings
from onepeak.training.devices import Precision
from onepeak.training.presets import PAPER, PRESETS
from onepeak.training.recipe import Recipe
from onepeak.training.recipe_file import BASE, NOT_A_SETTING, replaced
from onepeak.training.trial import NETWORK_NAMES

OPENED_BY = ("root", "order", "label", "group", "path", "category", "drop", "decimal", "skip_bad")
"""The settings that `onepeak.data.open.open_data` takes besides the data."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._-]{0,99}")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Data, protocol, methods and training settings; together with the library versions they determine every result."""

    name: str
    data: str
    """As for `onepeak.data.open.open_data`, like the settings in `OPENED_BY`."""
    root: str | None = None
    order: str | tuple[str, ...] | tuple[int, ...] | None = None
    label: str | None = None
    group: str | None = None
    path: str | None = None
    category: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    decimal: str | None = None
    methods: tuple[MethodEntry, ...]
    protocol: str = "auto"
    """As for `onepeak.data.splits.make_splits`, like splits and folds."""
    splits: int | None = None
    folds: int | None = None
    seed: int = 0
    """Seeds the splits, initial weights, order of samples and augmentations: the same for all methods."""
    recipe: dict[str, Any] = field(default_factory=dict)
    """How all methods are trained: `base` names a preset, the rest are settings of `Recipe`."""
    network: dict[str, Any] = field(default_factory=dict)
    """Settings of `NetworkSettings` that differ from the defaults for the data."""
    weights: str | None = None
    """A local file with the backbone's initial weights."""
    precision: Precision = "fp32"
    skip_bad: bool = False
    """Whether to leave out images that do not exist or cannot be read."""
    allow_leak: bool = False
    """Whether to train although the splits leak; every record then lists the leaks."""
    file: str | None = field(default=None, compare=False, metadata=NOT_A_SETTING)
    """The file that it was read from, for messages."""
    recipe_source: RecipeSource | None = field(default=None, compare=False, metadata=NOT_A_SETTING)
    """The file that the recipe was read from, for messages."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InputError(f"`name` must consist of letters, digits and + . _ -, got {self.name!r}.")
        for name in ("data", "root", "label", "group", "path", "decimal", "protocol", "weights"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in ("data", "protocol")):
                raise InputError(f"`{name}` must be text, got {value!r}.")
        if self.order is not None and not isinstance(self.order, str | tuple):
            raise InputError(f"`order` must be the classes, lowest first: 'a,b,c' or a list, got {self.order!r}.")
        for name in ("category", "drop"):
            columns = getattr(self, name)
            if not isinstance(columns, tuple) or not all(isinstance(column, str) for column in columns):
                raise InputError(f"`{name}` must be a list of columns, got {columns!r}.")
        for name in ("splits", "folds"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), minimum=1)
        check_integer("seed", self.seed, minimum=0)
        check_choice("precision", self.precision, get_args(Precision))
        for name in ("skip_bad", "allow_leak"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"`{name}` must be true or false, got {getattr(self, name)!r}.")
        self._check_methods()
        if problems := [*recipe_problems(self.recipe), *network_problems(self.network)]:
            raise InputError("\n".join(problems))

    def _check_methods(self) -> None:
        if not self.methods:
            raise InputError("`methods` must name at least one method, got none.")
        labels = [entry.label for entry in self.methods]
        for label in labels:
            # Some file systems ignore case.
            if [each.lower() for each in labels].count(label.lower()) > 1:
                raise InputError(
                    f"`methods` must have different labels, got {label!r} twice: give one of them a `label`."
                )

    @property
    def weights_file(self) -> Path | None:
        """The path of the backbone's initial weights."""
        return None if self.weights is None else expanded(self.weights)


def name_for(data: str) -> str:
    """Returns the default name of an experiment on some data.

    Example:
        >>> name_for("some/my scans.csv")
        'my-scans'
    """
    return re.sub(r"[^A-Za-z0-9+._-]+", "-", expanded(data).resolve().stem).strip("-.") or "data"


def recipe_problems(settings: Any) -> list[str]:
    """Lists what is wrong with the recipe of an experiment, as far as can be told without the data."""
    if not isinstance(settings, Mapping):
        return [f"recipe: must be a table of settings, got {settings!r}."]
    problems: list[str] = []
    base = settings.get(BASE, "auto")
    if base not in PRESETS:
        problems.append(f"recipe.{BASE}: {unknown_name('recipe', str(base), PRESETS)}")
    rest = {name: value for name, value in settings.items() if name != BASE}
    replaced(PAPER if base == "paper" else Recipe(), rest, "recipe.", problems)
    return problems


def network_problems(settings: Any) -> list[str]:
    """Lists what is wrong with the settings of the network, as far as can be told without the data."""
    if not isinstance(settings, Mapping):
        return [f"network: must be a table of settings, got {settings!r}."]
    names = [f"network.{name}" for name in NETWORK_NAMES]
    problems = [
        str(unknown_name("setting", f"network.{name}", names)) for name in settings if name not in NETWORK_NAMES
    ]
    if not problems:
        of_a_table = "hidden" in settings or "dropout" in settings
        table = settings.get("backbone", "mlp" if of_a_table else None) == "mlp"
        base = NetworkSettings(backbone="mlp", num_features=1) if table else NetworkSettings()
        replaced(base, settings, "network.", problems)
    return problems
