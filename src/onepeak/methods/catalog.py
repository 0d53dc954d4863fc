"""The catalog of methods, and building a method from a name."""

from typing import NamedTuple, get_args

from onepeak._core.check import check_choice
from onepeak._core.registry import Registry, unknown_name
from onepeak._core.tensors import PerClass, real_tensors
from onepeak._core.wording import did_you_mean
from onepeak.constraints import AugmentedLagrangian, Hinge, LogBarrier, QuadraticPenalty
from onepeak.errors import InputError, UnknownNameError
from onepeak.methods.class_distance import CDW_CE, CS_CE, EAE, OLL, SE, SLACE
from onepeak.methods.constrained import ELB, HINGE, LAGRANGIAN, ORCU, PN, Constrained
from onepeak.methods.counts import BINOMIAL, PO, POISSON
from onepeak.methods.cross_entropy import CE
from onepeak.methods.cumulative_link import AT_HINGE, CLM, CLM_CAUCHIT, CLM_CLOGLOG, CLM_LOGLOG, CLM_PROBIT, IT_HINGE
from onepeak.methods.feature_terms import Cloc, OrdinalEntropy, RankNContrast, WithFeatureTerm
from onepeak.methods.gaussian import GAUSSIAN, OT_NORMAL, REGRESSION
from onepeak.methods.kappa import WK
from onepeak.methods.label_distribution import DLDL_V2, LD
from onepeak.methods.levels import CONDOR, CORAL, CORN, ECOC, FRANK_HALL, OR_CNN, STICK_BREAKING
from onepeak.methods.mean_variance import MEAN_RESIDUE, MV
from onepeak.methods.method import Method, Variant
from onepeak.methods.neighbours import CO2, HO2, QUL, UC, WU
from onepeak.methods.noise_corrected import NOISE_CORRECTED
from onepeak.methods.peak import PEAK
from onepeak.methods.record import AdditionRecord, MethodRecord
from onepeak.methods.reencode import REN
from onepeak.methods.rps import MCE, RPS
from onepeak.methods.slopes import SLOPES
from onepeak.methods.smoothed import SMOOTH_SLOPES, Smoothed
from onepeak.methods.soft_labels import SOFT_LABELS
from onepeak.methods.steps import COPOC, UNIMODAL_NET

METHODS = Registry(
    "method",
    [
        *(CE, REN, LD, MV, PO, PN, ELB, PEAK, SLOPES, SMOOTH_SLOPES),
        *(RPS, CDW_CE, OLL, WK, SLACE, CO2, HO2, QUL, UC, SE, EAE, CS_CE, MEAN_RESIDUE, MCE, REGRESSION),
        *(DLDL_V2, *SOFT_LABELS, NOISE_CORRECTED),
        *(CLM, CLM_PROBIT, CLM_CLOGLOG, CLM_LOGLOG, CLM_CAUCHIT, AT_HINGE, IT_HINGE),
        *(FRANK_HALL, OR_CNN, CORAL, CORN, CONDOR, ECOC),
        *(BINOMIAL, POISSON, STICK_BREAKING, GAUSSIAN, OT_NORMAL, COPOC, UNIMODAL_NET),
        *(ORCU, HINGE, LAGRANGIAN, WU),
    ],
)

CONSTRAINTS = Registry(
    "constraint",
    [
        AdditionRecord(name="elb", title="under a log-barrier", build=LogBarrier),
        AdditionRecord(name="pn", title="under a penalty", build=QuadraticPenalty),
        AdditionRecord(name="hinge", title="under a hinge", build=Hinge),
        AdditionRecord(name="lagrangian", title="under an augmented Lagrangian", build=AugmentedLagrangian),
    ],
)

FEATURE_TERMS = Registry(
    "term on features",
    [
        AdditionRecord(name="rnc", title="with Rank-N-Contrast", build=RankNContrast),
        AdditionRecord(name="oe", title="with ordinal entropy", build=OrdinalEntropy),
        AdditionRecord(name="cloc", title="with CLOC", build=Cloc),
    ],
)

SMOOTH = "smooth-"
"""Name prefix: the method with its outputs averaged over their neighbours."""

_OF_YOUR_OWN = (
    "To use your own, run the file that adds it in place of `onepeak`, as in `python my_method.py compare ...`, or "
    "import that file first."
)


def methods() -> tuple[MethodRecord, ...]:
    """All methods in the catalog. Any with class scores also accepts a constraint, as in `"<name>+elb"`.

    Example:
        >>> [record.name for record in methods()][:7]
        ['ce', 'ren', 'ld', 'mv', 'po', 'pn', 'elb']
    """
    return tuple(METHODS)


def is_known(name: str) -> bool:
    """Whether a name, including its prefix and constraint, refers to a method in the catalog.

    Example:
        >>> is_known("smooth-mv+elb"), is_known("smooth-mine"), is_known("mv+mine")
        (True, False, False)
    """
    before, constraint, _ = _split(name)
    known = before in METHODS or before.removeprefix(SMOOTH) in METHODS
    return known and (constraint is None or constraint in CONSTRAINTS)


def method(
    name: str | MethodRecord,
    num_classes: int,
    *,
    variant: Variant = "corrected",
    class_weight: PerClass | None = None,
    **settings: object,
) -> Method:
    """Builds a method by name.

    Args:
        name: A name in the catalog; with a constraint, as in `"mv+elb"`, a term on features, as in `"mv+rnc"`, or both;
            or any of these with outputs averaged over their neighbours, as in `"smooth-elb"`. It can also be the
            `MethodRecord` of your own method, in the catalog or not.
        num_classes: Number of classes, at least 2.
        variant: "corrected" for the method as the cited paper defines it, "as_published" for what the code behind the
            results of Belharbi et al. 2019 computes.
        class_weight: Weight of each class.
        settings: Settings of the method and of what is added to it. An unknown name is an error.

    Example:
        >>> elb = method("elb", num_classes=70, t=1.0)
        >>> elb.num_outputs
        70
        >>> method("ebl", num_classes=70)
        Traceback (most recent call last):
        onepeak.errors.UnknownNameError: Unknown method 'ebl'. Did you mean 'elb'? Known: ce, ren, ld, ...
    """
    if not isinstance(name, str | MethodRecord):
        raise InputError(f"`name` must be the name of a method, such as 'elb', or a MethodRecord, got {name!r}.")
    parts = Parts(False, name, None, None) if isinstance(name, MethodRecord) else parts_of(name)
    with real_tensors():
        return _built(parts, num_classes, variant, class_weight, settings)


class Parts(NamedTuple):
    """The parts of a method name."""

    smooth: bool
    record: MethodRecord
    constraint: AdditionRecord | None
    term: AdditionRecord | None

    @property
    def added(self) -> tuple[AdditionRecord, ...]:
        """What is added to the method."""
        return tuple(each for each in (self.constraint, self.term) if each is not None)


def parts_of(name: str) -> Parts:
    """Splits a name into its parts. An unknown name, or parts that do not fit together, raise an error.

    Example:
        >>> parts = parts_of("smooth-mv+elb")
        >>> parts.smooth, parts.record.name, parts.constraint.name
        (True, 'mv', 'elb')
    """
    if ":" in name:  # as on the command line
        raise InputError(
            f"`name` must be a name alone, got {name!r}: in Python, settings are keywords, as in "
            "onepeak.method('elb', num_classes=5, t=2.0), or `method_settings` of OrdinalClassifier."
        )
    before, constraint_name, term = _split(name)
    plain = before.removeprefix(SMOOTH)
    smooth = before not in METHODS and plain in METHODS
    base = plain if smooth else before
    if base not in METHODS:
        raise _unknown(base)
    if constraint_name is not None and constraint_name not in CONSTRAINTS:
        known = [record.name for record in (*CONSTRAINTS, *FEATURE_TERMS)]
        error = unknown_name("constraint", constraint_name, known)
        raise UnknownNameError(f"{error} {_OF_YOUR_OWN}", page="extend")
    constraint = None if constraint_name is None else CONSTRAINTS[constraint_name]
    if base == constraint_name:
        raise InputError(f"`name` must put a constraint on another method, got {name!r}: {base!r} already has it.")
    if smooth:
        _check_neighbours(METHODS[base])
    return Parts(smooth, METHODS[base], constraint, term)


def _split(name: str) -> tuple[str, str | None, AdditionRecord | None]:
    """The name of the method, of the constraint, and the last term on features; two constraints are one unknown."""
    before, *added = name.split("+")
    terms = [FEATURE_TERMS[each] for each in added if each in FEATURE_TERMS]
    others = [each for each in added if each not in FEATURE_TERMS] + [term.name for term in terms[1:]]
    return before, "+".join(others) if others else None, terms[0] if terms else None


def _built(
    parts: Parts,
    num_classes: int,
    variant: Variant,
    class_weight: PerClass | None,
    settings: dict[str, object],
) -> Method:
    record, added = parts.record, parts.added
    name = "+".join([record.name, *(each.name for each in added)])
    check_choice("variant", variant, get_args(Variant))
    if variant == "as_published" and record.as_published == "none":
        raise InputError(f"`variant` must be 'corrected' for {record.name!r}, which is not in the published code.")

    owners = [(record.name, record.settings), *((each.name, tuple(each.defaults)) for each in added)]
    known = tuple(setting for _, own in owners for setting in own)
    for setting in settings:
        if not known:
            raise InputError(f"{name!r} has no settings, got {setting!r}.")
        if setting not in known:
            raise unknown_name(f"setting of {name!r}", setting, known)
        if known.count(setting) > 1:
            both = " and ".join(repr(owner) for owner, own in owners if setting in own)
            raise InputError(
                f"`{setting}` is a setting of both {both}: "
                "build both and combine them with onepeak.Constrained(base, constraint)."
            )
    own = {key: value for key, value in settings.items() if key in record.settings}
    if record.as_published == "differs":
        own["variant"] = variant
    built = record.made(num_classes, class_weight=class_weight, **own)
    if parts.constraint is not None:
        built = Constrained(built, parts.constraint.made(num_classes, settings))
    if parts.smooth:
        built = Smoothed(built)
    if parts.term is not None:
        built = WithFeatureTerm(built, parts.term.made(num_classes, settings))
    return built


def _unknown(name: str) -> UnknownNameError:
    names = [record.name for record in METHODS]
    question = did_you_mean(name, [*names, *(SMOOTH + each for each in names)])
    endings = " or ".join(f"+{known.name}" for known in CONSTRAINTS)
    terms = " or ".join(f"+{known.name}" for known in FEATURE_TERMS)
    return UnknownNameError(
        f"Unknown method {name!r}.{question} Known: {', '.join(names)}. Methods with class scores also accept "
        f"{endings}, as in mv+elb; all accept {terms}; most also accept the prefix {SMOOTH}, as in {SMOOTH}elb. "
        f"{_OF_YOUR_OWN}",
        page="choose",
    )


def _check_neighbours(record: MethodRecord) -> None:
    if record.num_outputs.replace(" ", "") not in ("c", "c-1") or record.family == "distribution":
        raise InputError(
            f"{SMOOTH!r} must precede a method with one output per class or level, got {record.name!r}, whose outputs "
            "have another meaning."
        )
