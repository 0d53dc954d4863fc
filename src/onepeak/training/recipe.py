"""How a network is trained: all settings in one frozen record, and their changes by a file or by flags."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from onepeak._core.check import check_choice, check_integer, check_number
from onepeak._core.registry import unknown_name
from onepeak.data.images.augment import Augment
from onepeak.data.images.resize import Resize
from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest
from onepeak.data.splits.copies import has_texts
from onepeak.errors import InputError, together
from onepeak.metrics.catalog import METRICS

NOT_A_SETTING = MappingProxyType({"setting": False})
"""Metadata of a record's field that no file can set, such as where the record was read from."""

Optimizer: TypeAlias = Literal["sgd", "adamw"]
Schedule: TypeAlias = Literal["constant", "step", "cosine"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Optimiser, schedule, batches, selection of the epoch, and image geometry."""

    epochs: int = 30
    batch_size: int = 32
    """Samples per step, over all processes together."""
    optimizer: Optimizer = "adamw"
    lr: float = 1e-3
    encoder_lr: float | None = None
    """Learning rate of the encoder of texts, with the same schedule; None to leave the encoder as it is."""
    momentum: float = 0.9
    """Momentum of SGD."""
    nesterov: bool = False
    """Nesterov momentum of SGD. The paper does not mention it; its published code uses it."""
    weight_decay: float = 1e-2
    schedule: Schedule = "cosine"
    step_every: int = 100
    """Epochs between two steps of the step schedule."""
    step_factor: float = 0.1
    """Factor on the learning rate at each step of the step schedule."""
    lr_floor: float = 1e-7
    """Lowest learning rate of the schedule."""
    warmup_epochs: int = 0
    """Epochs over which the learning rate rises linearly to its value."""
    clip_norm: float | None = None
    """Greatest norm of the gradient; None for no limit."""
    ema: float | None = None
    """Decay of a running average of the weights, which is then evaluated and kept; None for no average."""
    sync_batch_norm: bool = False
    """Whether batch norm computes its statistics over all processes; for several GPUs with few samples each."""
    balanced: bool = False
    """Whether samples are drawn so that every class occurs equally often."""
    class_weight: str | tuple[float, ...] | None = None
    """Weight of each class in the loss: "balanced" for equal total weight of every class, "lds" for the same after
    smoothing the label distribution over neighbouring classes, or one number per class."""
    logit_adjustment: float | None = None
    """Strength of the log-frequencies that are added to class scores in training; 1 is exact, None for no adjustment.
    The trained scores then predict as if all classes were equally frequent."""
    patience: int | None = None
    """Epochs without a better value of `select` before training stops; None to run all epochs. The schedule is that of
    all epochs, wherever training stops."""
    select: str = "mae"
    """The validation metric whose best epoch is kept: a key of `onepeak.metrics.catalog`, "loss", or "as_published".
    "last" keeps the last epoch: on a small validation part the best of many epochs is often a matter of luck."""
    resize: Resize = field(default_factory=Resize)
    """How every image is resized once, before training."""
    bits: int | None = None
    """Number of bits used in 16-bit image files, such as 12, which would otherwise be nearly black; None for all 16."""
    augment: Augment = field(default_factory=Augment)
    """Random changes to an image each time it is trained on."""
    evaluation_batch_size: int = 64

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, np.generic):  # optimisers and files need Python numbers
                value = value.item()
                object.__setattr__(self, each.name, value)
            if value is None and each.default is None:
                continue
            if each.name in _COUNTS:
                check_integer(each.name, value, minimum=_COUNTS[each.name])
            elif each.name in _NUMBERS:
                check_number(each.name, value, **_NUMBERS[each.name])
            elif each.name in ("nesterov", "balanced", "sync_batch_norm") and not isinstance(value, bool):
                raise InputError(f"`{each.name}` must be true or false, got {value!r}.")
        check_choice("optimizer", self.optimizer, get_args(Optimizer))
        check_choice("schedule", self.schedule, get_args(Schedule))
        check_choice("select", self.select, ("last", "loss", "as_published", *(record.name for record in METRICS)))
        if self.select == "last" and self.patience is not None:
            raise InputError(
                "`patience` must be left out if `select` is 'last': it waits for a better epoch.", argument="patience"
            )
        if self.bits is not None and check_integer("bits", self.bits, minimum=8) > 16:
            raise InputError(f"`bits` must be an integer from 8 to 16, got {self.bits}.", argument="bits")
        if self.nesterov and (self.optimizer != "sgd" or self.momentum == 0):
            raise InputError("`nesterov` must be false without SGD and momentum: it would do nothing.")
        self._check_imbalance()

    def _check_imbalance(self) -> None:
        if isinstance(self.class_weight, tuple):
            for weight in self.class_weight:
                check_number("class_weight", weight, above=0)
        elif self.class_weight not in (None, "balanced", "lds"):
            raise InputError(
                f"`class_weight` must be 'balanced', 'lds' or one number per class, got {self.class_weight!r}.",
                argument="class_weight",
            )
        if isinstance(self.class_weight, str) and self.balanced:
            raise InputError(
                f"`class_weight` must not be {self.class_weight!r} if `balanced` is true: use one of the two.",
                argument="class_weight",
            )
        if self.logit_adjustment is not None and (self.balanced or self.class_weight is not None):
            raise InputError(
                "`logit_adjustment` must be left out beside `balanced` and `class_weight`: use one of the three.",
                argument="logit_adjustment",
            )


_COUNTS = {"epochs": 1, "batch_size": 1, "evaluation_batch_size": 1, "step_every": 1, "warmup_epochs": 0, "patience": 1}
"""The least value of each integer."""
_NUMBERS: dict[str, dict[str, float]] = {
    "lr": {"above": 0},
    "encoder_lr": {"above": 0},
    "momentum": {"minimum": 0, "below": 1},
    "weight_decay": {"minimum": 0},
    "step_factor": {"above": 0, "maximum": 1},
    "lr_floor": {"minimum": 0},
    "clip_norm": {"above": 0},
    "ema": {"above": 0, "below": 1},
    "logit_adjustment": {"above": 0},
}

SETTING_NAMES = tuple(each.name for each in fields(Recipe) if each.name not in ("resize", "augment"))
"""The settings that are plain values, as given by flags and files."""


def changed(recipe: Recipe, content: Mapping[str, Any], *, source: str, prefix: str = "") -> Recipe:
    """Returns a recipe with some settings replaced; all that is wrong with them is one error."""
    problems: list[InputError] = []
    result: Recipe = replaced(recipe, content, prefix, problems)
    if problems:
        raise together(problems).at(file=source)
    return result


def replaced(record: Any, content: Mapping[str, Any], prefix: str, problems: list[InputError]) -> Any:
    """Returns a frozen record with some of its values replaced; adds what is wrong with them to `problems`."""
    names = setting_names(record)
    values: dict[str, Any] = {}
    for name, value in content.items():
        before = getattr(record, name, None)
        if name not in names:
            problems.append(unknown_name("setting", prefix + name, [prefix + known for known in names]))
        elif not is_dataclass(before):
            values[name] = tuple(value) if isinstance(value, list) else value
        elif isinstance(value, Mapping):
            values[name] = replaced(before, value, f"{prefix}{name}.", problems)
        else:
            problems.append(InputError(f"must be a table of settings, got {value!r}.", key=prefix + name))
    try:
        return replace(record, **values)  # all at once, because some settings are only valid together
    except (InputError, TypeError) as error:
        wrong = [
            problem.at(prefix + name)
            for name in values
            if (problem := _problem(record, name, values[name])) is not None
        ]
        problems += wrong or [_input_error(error).at(prefix.rstrip("."))]
        return record


def setting_names(record: Any) -> list[str]:
    """Returns the names of a record's settings: its fields, except those marked `NOT_A_SETTING`."""
    return [each.name for each in fields(record) if each.metadata != NOT_A_SETTING]


def _problem(record: Any, name: str, value: Any) -> InputError | None:
    """Returns what is wrong with one setting by itself."""
    try:
        replace(record, **{name: value})
    except (InputError, TypeError) as error:
        return _input_error(error)
    return None


def _input_error(error: InputError | TypeError) -> InputError:
    return error if isinstance(error, InputError) else InputError(str(error))


_USED_BY = {
    "momentum": ("optimizer", ("sgd",)),
    "step_every": ("schedule", ("step",)),
    "step_factor": ("schedule", ("step",)),
    "lr_floor": ("schedule", ("cosine", "step")),
}
"""Settings that only some values of another setting use. `Recipe` itself refuses what is wrong at any value, such as
`nesterov` without SGD."""


def without_effect(
    given: Mapping[str, Any],
    recipes: Sequence[Recipe],
    manifest: Manifest,
    *,
    backbone: str | None = None,
    frozen: bool = False,
) -> Iterator[InputError]:
    """Yields an error for every given setting that no recipe uses, with its key.

    Only what was given counts: a recipe has a momentum even if its optimiser has none. Without recipes every method
    has a value of its own. `backbone` is the one that was given; `frozen` says that it is.
    """
    if not recipes:
        for name, value in given.items():
            yield _useless(name, "where every method has its own", value)
        return
    for name, (choice, used_by) in _USED_BY.items():
        values = dict.fromkeys(getattr(recipe, choice) for recipe in recipes)
        if name in given and not any(value in used_by for value in values):
            chosen = " and ".join(f"{choice}={value!r}" for value in values)
            instead = " or ".join(f"{choice}={value!r}" for value in used_by)
            yield _useless(name, f"with {chosen}", given[name], instead=f" or use {instead}")
    yield from _without_effect_on(manifest, given, backbone)
    if frozen:
        for name in given.get("augment", {}):
            if name in ("crop", "colour_jitter") and given["augment"][name] is not None:
                where = "with a frozen backbone, which sees whole images"
                yield _useless(name, where, given["augment"][name]).at(f"augment.{name}")


def _without_effect_on(manifest: Manifest, given: Mapping[str, Any], backbone: str | None) -> Iterator[InputError]:
    if given.get("bits") is not None:
        if not isinstance(manifest.items, ImageFiles):
            yield _useless("bits", "for data other than image files", given["bits"])
        elif all(Path(path).suffix.lower() in (".dcm", ".dicom") for path in manifest.items.paths):
            yield _useless("bits", "for DICOM, whose files say which of their bits they use", given["bits"])
    if given.get("encoder_lr") is not None and not has_texts(manifest.items):
        yield _useless("encoder_lr", "for data without texts", given["encoder_lr"])
    if not isinstance(manifest.items, FeatureRows):
        return
    for part in ("resize", "augment"):
        for name, value in given.get(part, {}).items():
            yield _useless(name, "for a table", value).at(f"{part}.{name}")
    if given.get("sync_batch_norm") and backbone in (None, "mlp"):
        yield _useless("sync_batch_norm", "with backbone='mlp'", True)


def _useless(name: str, why: str, value: object, *, instead: str = "") -> InputError:
    message = f"`{name}` does nothing {why}, got {value!r}: leave it out{instead}."
    return InputError(message, argument=name, key=name)
