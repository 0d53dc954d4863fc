"""What the catalog knows of a method and of a constraint."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from onepeak._check import check_choice
from onepeak.constraints import OrderConstraint
from onepeak.errors import InputError
from onepeak.methods.method import Method

Family: TypeAlias = Literal["plain", "distance", "soft-labels", "levels", "distribution", "constraint"]
"""By what a method knows of the order: nothing; how far each class lies from the label; a target spread around the
label; questions "above k?"; a posterior of a given form; the order of neighbouring scores."""


@dataclass(frozen=True, kw_only=True)
class MethodRecord:
    """What the catalog knows of a method."""

    name: str
    title: str
    family: Family
    reference: str
    year: int | None
    """Of the reference; None where there is none."""
    num_outputs: str
    """How many numbers the network gives, for c classes."""
    unimodal: bool = False
    """Whether the posterior has one peak by construction, whatever the network says, up to rounding."""
    as_published: Literal["same", "differs", "none"] = "none"
    """Whether the code behind the paper's figures computes the same, something else, or has no such method."""
    build: Callable[..., Method] = field(repr=False)

    def __post_init__(self) -> None:
        check_choice("family", self.family, get_args(Family))
        if "class_weight" not in inspect.signature(self.build).parameters:
            raise InputError(
                f"`build` of the method {self.name!r} must take `class_weight` and hand it on: def __init__(self, "
                "num_classes, ..., class_weight=None) and super().__init__(num_classes, class_weight=class_weight)."
            )

    @property
    def settings(self) -> tuple[str, ...]:
        """What can be set, beside the number of classes, class weights and the variant."""
        return settings_of(self.build)


@dataclass(frozen=True, kw_only=True)
class ConstraintRecord:
    """A constraint that can be put on a method by name, as in `"mv+elb"`."""

    name: str
    title: str
    build: Callable[..., OrderConstraint] = field(repr=False)


def settings_of(build: Callable[..., object]) -> tuple[str, ...]:
    """The names of what can be set, beside the number of classes, class weights and the variant."""
    shared = ("num_classes", "class_weight", "variant")
    return tuple(name for name in inspect.signature(build).parameters if name not in shared)
