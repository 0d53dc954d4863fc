"""An experiment as one frozen record, validated before any data is read; as a TOML file; and its runs."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, get_args

from onepeak._core.check import check_choice, check_integer
from onepeak._core.files import expanded
from onepeak._core.formats import read_toml
from onepeak._core.registry import unknown_name
from onepeak.data.source import DataSource
from onepeak.data.splits import Split
from onepeak.errors import InputError, together
from onepeak.experiment.run_files import RECORD
from onepeak.methods.catalog import method, methods
from onepeak.methods.method import Variant
from onepeak.networks.build import NetworkSettings
from onepeak.training.devices import Precision
from onepeak.training.out_folder import RUNS
from onepeak.training.prepare import NETWORK_NAMES, PRETRAINED, Normalise
from onepeak.training.presets import BASE, PAPER, PRESETS
from onepeak.training.recipe import NOT_A_SETTING, SETTING_NAMES, Recipe, changed, replaced, setting_names

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
        problems: list[InputError] = []
        replaced(Recipe(optimizer="sgd"), self.recipe, "recipe.", problems)
        if problems:
            raise together(problems)
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

    "paper" stands for the seven methods of the paper, "all" for the catalog. `known` entries can be named by their
    labels, also as a base for other settings.

    Example:
        >>> [entry.label for entry in entries_from_text("ce,ld:as_published,elb:t=2")]
        ['ce', 'ld-as_published', 'elb-t-2']
    """
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise InputError(f"`methods` must be comma-separated names, as in ce,elb, got {text!r}.", argument="methods")
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
        raise unknown_name("recipe", str(base), PRESETS).at(prefix + BASE, file=name)
    # What suits the data is checked with the data.
    rest = {key: value for key, value in settings.items() if key != BASE}
    changed(PAPER if base == "paper" else Recipe(), rest, source=name, prefix=prefix)
    exempt = frozenset(settings) if RECORD in content else frozenset()
    return settings, RecipeSource(file=name, prefix=prefix, exempt=exempt)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._-]{0,99}")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Data, protocol, methods and training settings; together with the library versions they determine every result."""

    name: str
    source: DataSource = field(metadata=NOT_A_SETTING)
    """The data. In a file, its settings stand beside those of the experiment."""
    methods: tuple[MethodEntry, ...]
    protocol: str = "auto"
    """As for `onepeak.data.splits.make_splits`, like splits and folds."""
    splits: int | None = None
    folds: int | None = None
    seed: int = 0
    """Seeds the splits, initial weights, order of samples and augmentations: the same for all methods."""
    recipe: dict[str, Any] = field(default_factory=dict)
    """How all methods are trained: `base` names a preset, the rest are settings of `Recipe`."""
    tune: dict[str, Any] = field(default_factory=dict)
    """Lists of values of recipe settings, among which every run chooses on its validation part."""
    network: dict[str, Any] = field(default_factory=dict)
    """Settings of `NetworkSettings` that differ from the defaults for the data."""
    weights: str | None = None
    """A local file with the backbone's initial weights, or "pretrained" for timm's own."""
    normalise: Normalise | None = None
    """How pixels become inputs: "timm" with timm's own weights by default, "paper" otherwise."""
    freeze: bool = False
    """Whether the backbone keeps its weights, so that one pass over the images gives features for all runs."""
    precision: Precision = "fp32"
    allow_leak: bool = False
    """Whether to train although the splits leak; every record then lists the leaks."""
    licence: str | None = None
    """Licences of the data and of the initial weights, for the cards of its models."""
    file: str | None = field(default=None, compare=False, metadata=NOT_A_SETTING)
    """The file that it was read from, for messages."""
    recipe_source: RecipeSource | None = field(default=None, compare=False, metadata=NOT_A_SETTING)
    """The file that the recipe was read from, for messages."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InputError(f"`name` must consist of letters, digits and + . _ -, got {self.name!r}.")
        for name in ("protocol", "weights", "licence"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name == "protocol"):
                raise InputError(f"`{name}` must be text, got {value!r}.")
        for name in ("splits", "folds"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), minimum=1)
        check_integer("seed", self.seed, minimum=0)
        check_choice("precision", self.precision, get_args(Precision))
        if self.normalise is not None:
            check_choice("normalise", self.normalise, get_args(Normalise))
        for name in ("allow_leak", "freeze"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"`{name}` must be true or false, got {getattr(self, name)!r}.")
        self._check_methods()
        problems = [*recipe_problems(self.recipe), *tune_problems(self.tune, self.methods)]
        if problems := [*problems, *network_problems(self.network, texts=self.source.text is not None)]:
            raise together(problems)

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
    def trials(self) -> list[dict[str, Any]]:
        """Every combination of the values to be tuned; one without any setting if there is nothing to tune."""
        return [dict(zip(self.tune, values, strict=True)) for values in product(*self.tune.values())]

    @property
    def weights_file(self) -> Path | None:
        """The file of the backbone's initial weights, if one was given."""
        return None if self.weights in (None, PRETRAINED) else expanded(str(self.weights))


def name_for(data: str) -> str:
    """Returns the default name of an experiment on some data."""
    return re.sub(r"[^A-Za-z0-9+._-]+", "-", expanded(data).resolve().stem).strip("-.") or "data"


def recipe_problems(settings: Any) -> list[InputError]:
    """Lists what is wrong with the recipe of an experiment, as far as can be told without the data."""
    if not isinstance(settings, Mapping):
        return [InputError(f"must be a table of settings, got {settings!r}.", key="recipe")]
    problems: list[InputError] = []
    base = settings.get(BASE, "auto")
    if base not in PRESETS:
        problems.append(unknown_name("recipe", str(base), PRESETS).at(f"recipe.{BASE}"))
    rest = {name: value for name, value in settings.items() if name != BASE}
    replaced(PAPER if base == "paper" else Recipe(), rest, "recipe.", problems)
    return problems


def tune_problems(tune: Any, methods: Iterable[MethodEntry]) -> list[InputError]:
    """Lists what is wrong with the values to be tuned."""
    if not isinstance(tune, Mapping):
        return [InputError(f"must be lists of values by setting, got {tune!r}.", key="tune")]
    problems: list[InputError] = []
    for name, values in tune.items():
        if name not in SETTING_NAMES or name == "bits":
            problems.append(unknown_name("setting", f"tune.{name}", [f"tune.{each}" for each in SETTING_NAMES]))
        elif name == "select":
            problems.append(
                InputError("`tune` must leave select alone: it decides which value is best.", key="tune.select")
            )
        elif not isinstance(values, list | tuple) or not values:
            problems.append(InputError(f"must be a list of values, got {values!r}.", key=f"tune.{name}"))
        else:
            for value in values:
                replaced(Recipe(optimizer="sgd"), {name: value}, "tune.", problems)
        if own := [entry.label for entry in methods if name in entry.recipe]:
            problems.append(InputError(f"`tune` must leave {name} alone, as {own[0]} has its own.", key=f"tune.{name}"))
    return problems


def network_problems(settings: Any, *, texts: bool = False) -> list[InputError]:
    """Lists what is wrong with the settings of the network, as far as can be told without the data.

    The backbone of texts is their encoder, whose features an "mlp" takes.
    """
    if not isinstance(settings, Mapping):
        return [InputError(f"must be a table of settings, got {settings!r}.", key="network")]
    names = [f"network.{name}" for name in NETWORK_NAMES]
    problems: list[InputError] = [
        unknown_name("setting", f"network.{name}", names) for name in settings if name not in NETWORK_NAMES
    ]
    if not problems:
        of_a_table = "hidden" in settings or "dropout" in settings
        if texts:
            settings = {name: value for name, value in settings.items() if name != "backbone"}
        table = texts or settings.get("backbone", "mlp" if of_a_table else None) == "mlp"
        base = NetworkSettings(backbone="mlp", num_features=1) if table else NetworkSettings()
        replaced(base, settings, "network.", problems)
    return problems


def read_plan(path: Path) -> Experiment:
    """Reads an experiment from a file.

    All keys but data and methods may be left out. A method is text as on the command line, or a table::

        data = "fgnet"
        protocol = "code"
        splits = 10
        methods = ["ce", "ld:as_published", { name = "elb", settings = { t = 4.5 }, label = "elb" }]
        [recipe]
        base = "paper"
        epochs = 60
        [network]
        backbone = "resnet18"
    """
    content = read_toml(path, wanted="The experiment must be a TOML file")
    return plan_from(content, name=path.stem, source=str(path))


def plan_from(content: Mapping[str, Any], *, name: str, source: str) -> Experiment:
    """Builds the experiment from a file's content."""
    given = {"name": name, **{key: value for key, value in content.items() if key != RECORD}}
    problems = [InputError("must be given.", key=key) for key in ("data", "methods") if key not in given]
    given["methods"] = _entries(given.get("methods", ["ce"]), problems)
    check_network = partial(network_problems, texts=given.get("text") is not None)
    for key, check in (("recipe", recipe_problems), ("network", check_network)):
        if found := check(given.get(key, {})):
            problems += found
            del given[key]
    if "network" in given:  # records hold tuples, not lists
        given["network"] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in given["network"].items()
        }
    exempt = frozenset(given.get("recipe", {})) if RECORD in content else frozenset()
    recipe_source = RecipeSource(file=source, prefix="recipe.", exempt=exempt)
    of_data, known = setting_names(_NEUTRAL.source), [*setting_names(_NEUTRAL.source), *setting_names(_NEUTRAL)]
    problems += [unknown_name("setting", key, known) for key in given if key not in known]
    data: DataSource = replaced(_NEUTRAL.source, {key: given[key] for key in of_data if key in given}, "", problems)
    own = {key: value for key, value in given.items() if key in setting_names(_NEUTRAL)}
    neutral = replace(_NEUTRAL, source=data, file=source, recipe_source=recipe_source)
    plan: Experiment = replaced(neutral, own, "", problems)
    if problems:
        raise together(problems).at(file=source)
    return plan


def plan_content(experiment: Experiment) -> dict[str, Any]:
    """Returns the experiment as file content, from which `plan_from` builds the same experiment."""
    content = {name: value for name, value in asdict(experiment).items() if name in setting_names(experiment)}
    return {"name": content.pop("name"), **asdict(experiment.source), **content}


_NEUTRAL = Experiment(name="experiment", source=DataSource("biopsies"), methods=(MethodEntry(name="ce"),))
"""The defaults of a file's settings; name, data and methods are always replaced."""


def _entries(content: Any, problems: list[InputError]) -> tuple[MethodEntry, ...]:
    if not isinstance(content, list) or not content:
        problems.append(InputError(f"must be a non-empty list of methods, got {content!r}.", key="methods"))
        return _NEUTRAL.methods
    entries: list[MethodEntry] = []
    names = [each.name for each in fields(MethodEntry)]
    for index, entry in enumerate(content):
        key = f"methods[{index}]"
        if isinstance(entry, Mapping) and (unknown := [name for name in entry if name not in names]):
            problems += [unknown_name(f"setting of {key}", name, names) for name in unknown]
            continue
        try:
            match entry:
                case str():
                    entries += entries_from_text(entry)
                case {"name": str(), **_rest}:
                    entries.append(MethodEntry(**entry))
                case _:
                    raise InputError(f"must be text such as 'elb', or a table with a name, got {entry!r}.")
        except (InputError, TypeError) as error:
            problems.append(InputError(str(error), key=key))
    return tuple(entries) or _NEUTRAL.methods


@dataclass(frozen=True, kw_only=True)
class Run:
    """One training: a method on one split and fold."""

    entry: MethodEntry
    split: int
    fold: int

    @property
    def name(self) -> str:
        """The run's name in lists and messages: "elb/split0-fold0"."""
        return f"{self.entry.label}/split{self.split}-fold{self.fold}"

    def folder(self, experiment: Path) -> Path:
        """Returns the run's folder within an experiment's folder."""
        return experiment / RUNS / self.name


def grid(entries: Sequence[MethodEntry], splits: Sequence[Split]) -> tuple[Run, ...]:
    """Returns all runs, split by split, so that every method soon has a first result."""
    return tuple(Run(entry=entry, split=split.split, fold=split.fold) for split in splits for entry in entries)
