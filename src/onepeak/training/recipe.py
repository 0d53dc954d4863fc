"""How a network is trained: every number of it in one frozen record."""

from dataclasses import dataclass, field, fields
from typing import Literal, TypeAlias, get_args

import numpy as np

from onepeak._check import check_choice, check_integer, check_number
from onepeak.data.augment import Augment
from onepeak.data.resize import Resize
from onepeak.errors import InputError
from onepeak.metrics.catalog import METRICS

Optimizer: TypeAlias = Literal["sgd", "adamw"]
Schedule: TypeAlias = Literal["constant", "step", "cosine"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Optimiser, schedule, batches, selection and the pictures' geometry."""

    epochs: int = 30
    batch_size: int = 32
    """Samples a step, over all processes together."""
    optimizer: Optimizer = "adamw"
    lr: float = 1e-3
    momentum: float = 0.9
    """Of SGD."""
    nesterov: bool = False
    """Of SGD. The paper does not say; its published code has it on."""
    weight_decay: float = 1e-2
    schedule: Schedule = "cosine"
    step_every: int = 100
    """Epochs between two steps of the step schedule."""
    step_factor: float = 0.1
    """Factor of the learning rate at each step."""
    lr_floor: float = 1e-7
    """The schedule never goes below this."""
    warmup_epochs: int = 0
    """Epochs in which the learning rate rises in a straight line to its value."""
    clip_norm: float | None = None
    """Greatest norm of the gradient; None for no limit."""
    ema: float | None = None
    """Decay of a running average of the weights, which is then what is evaluated and kept; None for none."""
    sync_batch_norm: bool = False
    """Whether batch norm takes its statistics over all processes; for several GPUs with few samples each."""
    balanced: bool = False
    """Whether samples are drawn so that every class comes equally often."""
    class_weight: str | tuple[float, ...] | None = None
    """How much each class counts in the loss: "balanced" for all alike, however rare, or a number a class."""
    patience: int | None = None
    """Epochs without a better value of `select` before training stops; None to run them all. The schedule is that of
    all epochs, wherever it stops."""
    select: str = "mae"
    """The validation metric whose best epoch is kept: a name of `onepeak.metrics`, "loss", or "as_published"; or
    "last": the best of many epochs on a small validation part is often a lucky one."""
    resize: Resize = field(default_factory=Resize)
    """What happens to every picture once, before training."""
    bits: int | None = None
    """How many bits 16-bit picture files hold, such as 12, which would else be nearly black; None for all 16."""
    augment: Augment = field(default_factory=Augment)
    """What happens to a picture each time it is trained on."""
    evaluation_batch_size: int = 64

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, np.generic):  # optimisers and files want Python's numbers
                object.__setattr__(self, each.name, value.item())
        check_integer("epochs", self.epochs, minimum=1)
        check_integer("batch_size", self.batch_size, minimum=1)
        check_integer("evaluation_batch_size", self.evaluation_batch_size, minimum=1)
        check_choice("optimizer", self.optimizer, get_args(Optimizer))
        check_choice("schedule", self.schedule, get_args(Schedule))
        check_number("lr", self.lr, above=0)
        check_number("momentum", self.momentum, minimum=0, below=1)
        check_number("weight_decay", self.weight_decay, minimum=0)
        check_integer("step_every", self.step_every, minimum=1)
        check_number("step_factor", self.step_factor, above=0, maximum=1)
        check_number("lr_floor", self.lr_floor, minimum=0)
        check_integer("warmup_epochs", self.warmup_epochs, minimum=0)
        if self.clip_norm is not None:
            check_number("clip_norm", self.clip_norm, above=0)
        if self.ema is not None:
            check_number("ema", self.ema, above=0, below=1)
        if self.patience is not None:
            check_integer("patience", self.patience, minimum=1)
        if self.select == "last" and self.patience is not None:
            raise InputError("`patience` must be left out where `select` is 'last': it waits for a better epoch.")
        if self.bits is not None and check_integer("bits", self.bits, minimum=8) > 16:
            raise InputError(f"`bits` must be an integer from 8 to 16, got {self.bits}.")
        self._check_class_weight()
        for name in ("nesterov", "balanced", "sync_batch_norm"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"`{name}` must be true or false, got {getattr(self, name)!r}.")
        if self.nesterov and (self.optimizer != "sgd" or self.momentum == 0):
            raise InputError("`nesterov` must be false without SGD and momentum: it would do nothing.")
        check_choice("select", self.select, ("last", "loss", "as_published", *(record.name for record in METRICS)))

    def _check_class_weight(self) -> None:
        if isinstance(self.class_weight, tuple):
            for weight in self.class_weight:
                check_number("class_weight", weight, above=0)
        elif self.class_weight not in (None, "balanced"):
            raise InputError(f"`class_weight` must be 'balanced' or a number a class, got {self.class_weight!r}.")
        if self.class_weight == "balanced" and self.balanced is True:
            raise InputError("`class_weight` must not be 'balanced' where `balanced` is true: once is enough.")


SETTING_NAMES = tuple(each.name for each in fields(Recipe) if each.name not in ("resize", "augment"))
"""The settings that are plain values, as flags and files give them."""
