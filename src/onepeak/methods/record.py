"""What the catalog knows of a method and of a constraint."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from onepeak._check import check_choice
from onepeak.constraints import OrderConstraint
from onepeak.errors import InputError
from onepeak.methods.method import Method
from onepeak.posterior import DECISIONS

Family: TypeAlias = Literal["plain", "distance", "soft-labels", "levels", "distribution", "constraint"]
"""By what a method knows of the order: nothing; how far each class lies from the label; a target spread around the
label; questions "above k?"; a posterior of a given form; the order of neighbouring scores."""


_OF_CLASSES = re.compile(r"(?P<factor>\d*)c(?P<summand>[+-]\d+)?|(?P<number>\d+)")


@dataclass(frozen=True, kw_only=True)
class MethodRecord:
    """What the catalog knows of a method.

    Args:
        name: What it is called in `onepeak.method` and on the command line.
        title: A few words for tables and figures.
        family: By what it knows of the order, see `Family`; it decides where the method stands in lists.
        reference: Where it was published, or where it comes from.
        year: Of the reference; None where there is none.
        num_outputs: How many numbers the network gives for c classes, as text: `"c"`, `"c-1"`, `"2c"`, `"1"`. What the
            method says itself is held against it when it is first built. Other text, as of a number that depends on a
            setting, is shown as it is.
        unimodal: Whether the posterior has one peak by construction, whatever the network says, up to rounding. It is
            shown in lists, and what is trained does not depend on it.
        as_published: Whether the code behind the figures of Belharbi et al. 2019 computes the same, something else, or
            has no such method; one of your own is not in it. Where it differs, `build` takes `variant`.
        build: The class, or a function: `build(num_classes, *, class_weight=None, ...)`. What else it takes by name are
            the settings of the method.
    """

    name: str
    title: str
    family: Family
    reference: str
    year: int | None
    num_outputs: str
    unimodal: bool = False
    as_published: Literal["same", "differs", "none"] = "none"
    build: Callable[..., Method] = field(repr=False)

    def __post_init__(self) -> None:
        check_choice("family", self.family, get_args(Family))
        if not isinstance(self.num_outputs, str):
            raise InputError(
                f"`num_outputs` of the method {self.name!r} must be text, such as 'c-1', got {self.num_outputs!r}."
            )
        if "class_weight" not in inspect.signature(self.build).parameters:
            raise InputError(
                f"`build` of the method {self.name!r} must take `class_weight` and hand it on: def __init__(self, "
                "num_classes, ..., class_weight=None) and super().__init__(num_classes, class_weight=class_weight)."
            )

    @property
    def settings(self) -> tuple[str, ...]:
        """What can be set, beside the number of classes, class weights and the variant."""
        return tuple(self.defaults)

    @property
    def defaults(self) -> dict[str, object]:
        """What can be set, with what it is where nothing is said."""
        return defaults_of(self.build)

    def made(self, num_classes: int, **settings: object) -> Method:
        """Builds the method, and holds it against what the record says of it.

        Args:
            num_classes: Number of classes.
            settings: All that `build` takes by name.
        """
        method = self.build(num_classes, **settings)
        check_choice("decision", method.decision, DECISIONS)  # here, not when the first label is asked for
        told = outputs_told(self.num_outputs, num_classes)
        if told is not None and told != method.num_outputs:
            raise InputError(
                f"`num_outputs` in the record of the method {self.name!r} must be what the method says, "
                f"{method.num_outputs} for {num_classes} classes, got {self.num_outputs!r}, which is {told}."
            )
        return method


@dataclass(frozen=True, kw_only=True)
class ConstraintRecord:
    """A constraint that can be put on a method by name, as in `"mv+elb"`.

    Args:
        name: What stands behind the plus.
        title: A few words for `onepeak methods`, to be read after the method's, as "under a log-barrier".
        build: The class, or a function: `build(num_classes, ...)`. What else it takes by name are its settings.
    """

    name: str
    title: str
    build: Callable[..., OrderConstraint] = field(repr=False)

    @property
    def defaults(self) -> dict[str, object]:
        """What can be set, with what it is where nothing is said."""
        return defaults_of(self.build)


def outputs_told(text: str, num_classes: int) -> int | None:
    """How many outputs a record's text comes to; None where it is no number and no multiple of c plus a number.

    Args:
        text: `num_outputs` of a record.
        num_classes: The c in it.

    Example:
        >>> outputs_told("c-1", 5), outputs_told("2c", 5), outputs_told("1", 5), outputs_told("c a step", 5)
        (4, 10, 1, None)
    """
    found = _OF_CLASSES.fullmatch(text.replace(" ", ""))
    if found is None:
        return None
    if found["number"]:
        return int(found["number"])
    return int(found["factor"] or 1) * num_classes + int(found["summand"] or 0)


def defaults_of(build: Callable[..., object]) -> dict[str, object]:
    """What can be set beside the number of classes, class weights and the variant; None where there is no default."""
    shared = ("num_classes", "class_weight", "variant")
    taken = inspect.signature(build).parameters
    return {
        name: None if each.default is each.empty else each.default for name, each in taken.items() if name not in shared
    }
