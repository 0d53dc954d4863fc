"""Other ways to constrain the order of posteriors in training, for comparison with the paper's."""

from onepeak._shapes import PerClass
from onepeak.constraints import AugmentedLagrangian, Hinge
from onepeak.methods.constrained import Constrained
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.record import MethodRecord
from onepeak.methods.wasserstein import WassersteinUnimodal


def _hinge(
    num_classes: int, *, weight: float = 1.0, margin: float = 0.1, class_weight: PerClass | None = None
) -> Constrained:
    return Constrained(CrossEntropy(num_classes, class_weight=class_weight), Hinge(num_classes, weight, margin))


def _lagrangian(num_classes: int, *, weight: float = 0.1, class_weight: PerClass | None = None) -> Constrained:
    return Constrained(CrossEntropy(num_classes, class_weight=class_weight), AugmentedLagrangian(num_classes, weight))


CONSTRAINT_METHODS = (
    MethodRecord(
        name="hinge",
        title="cross-entropy under a hinge",
        family="constraint",
        reference="the most common penalty for order",
        year=None,
        num_outputs="c",
        build=_hinge,
    ),
    MethodRecord(
        name="lagrangian",
        title="cross-entropy under an augmented Lagrangian",
        family="constraint",
        reference="Bertsekas 1982, Constrained optimization and Lagrange multiplier methods",
        year=1982,
        num_outputs="c",
        build=_lagrangian,
    ),
    MethodRecord(
        name="wu",
        title="cross-entropy and the distance to one peak",
        family="constraint",
        reference="Cardoso, Cruz, Albuquerque 2023, Unimodal distributions for ordinal regression",
        year=2023,
        num_outputs="c",
        build=WassersteinUnimodal,
    ),
)
