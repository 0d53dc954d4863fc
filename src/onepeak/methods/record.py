"""The catalog records of methods and of what can be put on them."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from onepeak._core.check import check_choice
from onepeak._core.registry import first_citation
from onepeak.errors import InputError
from onepeak.methods.method import Method
from onepeak.methods.settings import settings_of
from onepeak.posterior import DECISIONS

Family: TypeAlias = Literal["plain", "distance", "soft-labels", "levels", "distribution", "constraint"]
"""How a method uses the order: not at all; by the distance of each class from the label; by a target spread around the
label; by questions "above k?"; by the form of the posterior; by the order of adjacent scores."""

_YEAR = re.compile(r"\b(18|19|20)\d\d\b")
_OF_CLASSES = re.compile(r"(?P<factor>\d*)c(?P<summand>[+-]\d+)?|(?P<number>\d+)")


@dataclass(frozen=True)
class MethodRecord:
    """A method in the catalog.

    Args:
        name: The name in `onepeak.method` and on the command line.
        title: A few words for tables and figures.
        family: How the method uses the order, see `Family`. Lists group methods by family.
        reference: Where the method was published, or where it comes from. Default: the first citation after
            "Reference:" in the docstring of `build`.
        year: Year of the reference. Default: the first one in its text; None if there is none.
        num_outputs: The number of network outputs for c classes, as text: `"c"`, `"c-1"`, `"2c"`, `"1"`. It is compared
            with the method's own `num_outputs` whenever the method is built. Any other text, for example for a number
            that depends on a setting, is only displayed.
        unimodal: Whether the posterior has one peak by construction, for any network outputs, up to rounding. It is
            only displayed and has no effect on training.
        as_published: Whether the code behind the results of Belharbi et al. 2019 computes the same ("same"), something
            else ("differs"), or has no such method ("none", as for your own). With "differs", `build` takes `variant`.
        build: The class, or a function `build(num_classes, *, class_weight=None, ...)`. Its other keyword arguments are
            the settings of the method.
        fixed: Keyword arguments of `build` that make this method of several in one class; they are no settings.
    """

    name: str
    title: str
    family: Family
    _: KW_ONLY
    reference: str = ""
    year: int | None = None
    num_outputs: str = "c"
    unimodal: bool = False
    as_published: Literal["same", "differs", "none"] = "none"
    build: Callable[..., Method] = field(repr=False)
    fixed: Mapping[str, object] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.reference:
            object.__setattr__(self, "reference", first_citation(self.build))
        if self.year is None and (year := _YEAR.search(self.reference)):
            object.__setattr__(self, "year", int(year[0]))
        check_choice("family", self.family, get_args(Family))
        if not isinstance(self.num_outputs, str):
            raise InputError(
                f"`num_outputs` of the method {self.name!r} must be text, such as 'c-1', got {self.num_outputs!r}."
            )
        if "class_weight" not in inspect.signature(self.build).parameters:
            raise InputError(
                f"`build` of the method {self.name!r} must take `class_weight` and pass it on: def __init__(self, "
                "num_classes, ..., class_weight=None) and super().__init__(num_classes, class_weight=class_weight)."
            )

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of the settings: all arguments except the number of classes, class weights and the variant."""
        return tuple(self.defaults)

    @property
    def defaults(self) -> dict[str, object]:
        """The settings with their default values."""
        return {name: default for name, default in _defaults(self.build).items() if name not in self.fixed}

    def made(self, num_classes: int, **settings: object) -> Method:
        """Builds the method with these settings and checks it against the record."""
        method = self.build(num_classes, **self.fixed, **settings)
        check_choice("decision", method.decision, DECISIONS)  # fail now, not at the first prediction
        told = outputs_told(self.num_outputs, num_classes)
        if told is not None and told != method.num_outputs:
            raise InputError(
                f"`num_outputs` in the record of the method {self.name!r} must agree with the method, which has "
                f"{method.num_outputs} for {num_classes} classes, got {self.num_outputs!r}, which is {told}."
            )
        return method


@dataclass(frozen=True, kw_only=True)
class AdditionRecord:
    """What can be put on a method by name: a constraint, as in `"mv+elb"`, or a term on features, as in `"mv+rnc"`."""

    name: str
    title: str
    """A few words that continue the title of a method, such as "under a log-barrier"."""
    build: Callable[..., Any] = field(repr=False)
    """The class, or a function `build(num_classes, ...)`. Its other keyword arguments are the settings."""

    @property
    def defaults(self) -> dict[str, object]:
        """The settings with their default values."""
        return _defaults(self.build)

    def made(self, num_classes: int, settings: Mapping[str, object]) -> Any:
        """Builds it with those of the settings that are its own."""
        return self.build(num_classes, **{key: value for key, value in settings.items() if key in self.defaults})


def outputs_told(text: str, num_classes: int) -> int | None:
    """The number of outputs that a record's text stands for; None if it is neither a number nor linear in c.

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


def _defaults(build: Callable[..., object]) -> dict[str, object]:
    """The settings of a builder with their default values; None if there is no default."""
    return {each.name: None if each.default is each.empty else each.default for each in settings_of(build)}
