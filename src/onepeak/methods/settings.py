"""Settings of a method, declared in its class: the default and what is allowed stand where the name does."""

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from onepeak._core.check import check_choice, check_number

BuilderT = TypeVar("BuilderT", bound=Callable[..., object])

_SHARED = ("num_classes", "class_weight", "variant")
"""Arguments of builders that are no settings."""


class Setting(NamedTuple):
    """A declared setting: its default, and the check that takes name and value and returns the value to keep."""

    default: Any
    check: Callable[[str, Any], Any]

    def parameter(self, name: str) -> inspect.Parameter:
        """The keyword argument that gives the setting."""
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=self.default)


def number(
    default: float,
    *,
    above: float | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    below: float | None = None,
) -> Any:
    """A setting that is a finite number. `above` and `below` are strict bounds, `minimum` and `maximum` are not."""
    return Setting(default, partial(check_number, above=above, minimum=minimum, maximum=maximum, below=below))


def choice(default: str, *others: str) -> Any:
    """A setting that is one of several names."""
    return Setting(default, partial(check_choice, choices=(default, *others)))


def signature_of(settings: Iterable[inspect.Parameter]) -> inspect.Signature:
    """The signature of what builds a method: the number of classes, the settings and the class weights."""
    num_classes = inspect.Parameter("num_classes", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    keywords = [each.replace(kind=each.KEYWORD_ONLY) for each in settings]
    class_weight = inspect.Parameter("class_weight", inspect.Parameter.KEYWORD_ONLY, default=None)
    return inspect.Signature([num_classes, *keywords, class_weight])


def settings_of(build: Callable[..., object]) -> list[inspect.Parameter]:
    """The arguments of a builder that are settings: all but the number of classes, class weights and the variant."""
    return [each for name, each in inspect.signature(build).parameters.items() if name not in _SHARED]


def with_settings_of(part: Callable[..., object]) -> Callable[[BuilderT], BuilderT]:
    """Decorates a builder that passes its `**settings` on to a part: its signature then shows those of the part.

    Example:
        >>> @with_settings_of(lambda num_classes, margin=0.5: None)
        ... def build(num_classes, *, class_weight=None, **settings): ...
        >>> str(inspect.signature(build))
        '(num_classes, *, margin=0.5, class_weight=None)'
    """

    def decorate(build: BuilderT) -> BuilderT:
        build.__signature__ = signature_of(settings_of(part))  # type: ignore[attr-defined]
        return build

    return decorate
