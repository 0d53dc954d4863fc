"""Every method by name, and how a name becomes a method."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from onepeak._check import check_choice
from onepeak._registry import Registry, unknown_name
from onepeak._shapes import PerClass
from onepeak.constraints import LogBarrier, OrderConstraint, QuadraticPenalty
from onepeak.errors import InputError, UnknownNameError
from onepeak.methods.constrained import Constrained
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.label_distribution import LabelDistribution
from onepeak.methods.mean_variance import MeanVariance
from onepeak.methods.method import Method, Variant
from onepeak.methods.poisson import Poisson
from onepeak.methods.reencode import Reencode
from onepeak.methods.slopes import Slopes


@dataclass(frozen=True, kw_only=True)
class MethodRecord:
    """What the catalog knows of a method."""

    name: str
    title: str
    reference: str
    num_outputs: str
    """How many numbers the network gives, for c classes."""
    unimodal: bool
    """Whether the posterior has one peak by construction, whatever the network says."""
    as_published: Literal["same", "differs", "none"]
    """Whether the code behind the paper's figures computes the same, something else, or has no such method."""
    build: Callable[..., Method] = field(repr=False)

    @property
    def settings(self) -> tuple[str, ...]:
        """What can be set, beside the number of classes, class weights and the variant."""
        return _settings(self.build)


@dataclass(frozen=True, kw_only=True)
class ConstraintRecord:
    """A constraint that can be put on a method by name, as in `"mv+elb"`."""

    name: str
    title: str
    build: Callable[..., OrderConstraint] = field(repr=False)


def _elb(
    num_classes: int,
    *,
    t: float = 1.0,
    growth: float = 1.001,
    t_max: float = 5.0,
    class_weight: PerClass | None = None,
) -> Constrained:
    base = CrossEntropy(num_classes, class_weight=class_weight)
    return Constrained(base, LogBarrier(num_classes, t, growth, t_max))


def _pn(
    num_classes: int, *, weight: float = 1e-2, slack: float = 0.1, class_weight: PerClass | None = None
) -> Constrained:
    base = CrossEntropy(num_classes, class_weight=class_weight)
    return Constrained(base, QuadraticPenalty(num_classes, weight, slack))


_BELHARBI = "Belharbi et al. 2019, Non-parametric uni-modality constraints for deep ordinal classification"

METHODS = Registry(
    "method",
    [
        MethodRecord(
            name="ce",
            title="cross-entropy",
            reference="the baseline, which knows no order",
            num_outputs="c",
            unimodal=False,
            as_published="same",
            build=CrossEntropy,
        ),
        MethodRecord(
            name="ren",
            title="re-encoded levels",
            reference="Cheng, Wang, Pollastri 2008, A neural network approach to ordinal regression",
            num_outputs="c",
            unimodal=False,
            as_published="differs",
            build=Reencode,
        ),
        MethodRecord(
            name="ld",
            title="label distribution",
            reference="Geng 2016, Label distribution learning",
            num_outputs="c",
            unimodal=False,
            as_published="differs",
            build=LabelDistribution,
        ),
        MethodRecord(
            name="mv",
            title="mean-variance",
            reference="Pan et al. 2018, Mean-variance loss for deep age estimation from a face",
            num_outputs="c",
            unimodal=False,
            as_published="differs",
            build=MeanVariance,
        ),
        MethodRecord(
            name="po",
            title="Poisson",
            reference="Beckham, Pal 2017, Unimodal probability distributions for deep ordinal classification",
            num_outputs="c",
            unimodal=True,
            as_published="differs",
            build=Poisson,
        ),
        MethodRecord(
            name="pn",
            title="cross-entropy under a penalty",
            reference=_BELHARBI,
            num_outputs="c",
            unimodal=False,
            as_published="same",
            build=_pn,
        ),
        MethodRecord(
            name="elb",
            title="cross-entropy under a log-barrier",
            reference=_BELHARBI,
            num_outputs="c",
            unimodal=False,
            as_published="same",
            build=_elb,
        ),
        MethodRecord(
            name="slopes",
            title="level questions as slopes",
            reference="onepeak",
            num_outputs="c-1",
            unimodal=False,
            as_published="none",
            build=Slopes,
        ),
    ],
)

CONSTRAINTS = Registry(
    "constraint",
    [
        ConstraintRecord(name="elb", title="under a log-barrier", build=LogBarrier),
        ConstraintRecord(name="pn", title="under a penalty", build=QuadraticPenalty),
    ],
)


def methods() -> tuple[MethodRecord, ...]:
    """All methods there are; any of them with class scores can also be asked for as `"<name>+elb"` or `"<name>+pn"`.

    Example:
        >>> [record.name for record in methods()]
        ['ce', 'ren', 'ld', 'mv', 'po', 'pn', 'elb', 'slopes']
    """
    return tuple(METHODS)


def method(
    name: str,
    *,
    num_classes: int,
    variant: Variant = "corrected",
    class_weight: PerClass | None = None,
    **settings: object,
) -> Method:
    """Builds a method by name.

    Args:
        name: A name in the catalog, or one with a constraint put on it: `"mv+elb"`.
        num_classes: Number of classes, at least 2.
        variant: "corrected" for what the cited paper means, "as_published" for what the code behind the figures of
            Belharbi et al. 2019 computes.
        class_weight: A weight of each class.
        settings: The method's own settings, and the constraint's; a name that neither knows is an error.

    Example:
        >>> elb = method("elb", num_classes=70, t=1.0)
        >>> elb.num_outputs
        70
        >>> method("ebl", num_classes=70)
        Traceback (most recent call last):
        onepeak.errors.UnknownNameError: Unknown method 'ebl'. Did you mean 'elb'? Known: ce, ren, ld, ...
    """
    base_name, plus, constraint_name = name.partition("+")
    try:
        record = METHODS[base_name]
    except UnknownNameError as error:
        endings = " or ".join(f"+{known.name}" for known in CONSTRAINTS)
        raise UnknownNameError(f"{error} Those with class scores also with {endings}, as in mv+elb.") from None
    constraint = CONSTRAINTS[constraint_name] if plus else None
    check_choice("variant", variant, get_args(Variant))
    if variant == "as_published" and record.as_published == "none":
        raise InputError(f"`variant` must be 'corrected' for {base_name!r}, which is not in the published code.")

    known = record.settings + (_settings(constraint.build) if constraint else ())
    for setting in settings:
        if not known:
            raise InputError(f"{name!r} has no settings of its own, got {setting!r}.")
        if setting not in known:
            raise unknown_name(f"setting of {name!r}", setting, known)
        if known.count(setting) > 1:
            raise InputError(
                f"`{setting}` is a setting of both {base_name!r} and {constraint_name!r}: "
                "build the two and put them together with onepeak.Constrained(base, constraint)."
            )
    own = {key: value for key, value in settings.items() if key in record.settings}
    if record.as_published == "differs":
        own["variant"] = variant
    base = record.build(num_classes, class_weight=class_weight, **own)
    if constraint is None:
        return base
    others = {key: value for key, value in settings.items() if key not in record.settings}
    return Constrained(base, constraint.build(num_classes, **others))


def _settings(build: Callable[..., object]) -> tuple[str, ...]:
    shared = ("num_classes", "class_weight", "variant")
    return tuple(name for name in inspect.signature(build).parameters if name not in shared)
