"""The methods of Belharbi et al. 2019, and our own."""

from onepeak._shapes import PerClass
from onepeak.constraints import LogBarrier, QuadraticPenalty
from onepeak.methods.constrained import Constrained
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.label_distribution import LabelDistribution
from onepeak.methods.mean_variance import MeanVariance
from onepeak.methods.poisson import Poisson
from onepeak.methods.record import MethodRecord
from onepeak.methods.reencode import Reencode
from onepeak.methods.slopes import Slopes
from onepeak.methods.smoothed import smooth_slopes


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

PAPER_AND_OUR_METHODS = (
    MethodRecord(
        name="ce",
        title="cross-entropy",
        family="plain",
        reference="the baseline, which ignores the order",
        year=None,
        num_outputs="c",
        as_published="same",
        build=CrossEntropy,
    ),
    MethodRecord(
        name="ren",
        title="re-encoded levels",
        family="levels",
        reference="Cheng, Wang, Pollastri 2008, A neural network approach to ordinal regression",
        year=2008,
        num_outputs="c",
        as_published="differs",
        build=Reencode,
    ),
    MethodRecord(
        name="ld",
        title="label distribution",
        family="soft-labels",
        reference="Geng 2016, Label distribution learning",
        year=2016,
        num_outputs="c",
        as_published="differs",
        build=LabelDistribution,
    ),
    MethodRecord(
        name="mv",
        title="mean-variance",
        family="distance",
        reference="Pan et al. 2018, Mean-variance loss for deep age estimation from a face",
        year=2018,
        num_outputs="c",
        as_published="differs",
        build=MeanVariance,
    ),
    MethodRecord(
        name="po",
        title="Poisson",
        family="distribution",
        reference="Beckham, Pal 2017, Unimodal probability distributions for deep ordinal classification",
        year=2017,
        num_outputs="c",
        unimodal=True,
        as_published="differs",
        build=Poisson,
    ),
    MethodRecord(
        name="pn",
        title="cross-entropy under a penalty",
        family="constraint",
        reference=_BELHARBI,
        year=2019,
        num_outputs="c",
        as_published="same",
        build=_pn,
    ),
    MethodRecord(
        name="elb",
        title="cross-entropy under a log-barrier",
        family="constraint",
        reference=_BELHARBI,
        year=2019,
        num_outputs="c",
        as_published="same",
        build=_elb,
    ),
    MethodRecord(
        name="slopes",
        title="level questions as slopes",
        family="levels",
        reference="onepeak",
        year=None,
        num_outputs="c-1",
        as_published="none",
        build=Slopes,
    ),
    MethodRecord(
        name="smooth-slopes",
        title="slopes whose neighbours learn together",
        family="levels",
        reference="onepeak",
        year=None,
        num_outputs="c-1",
        as_published="none",
        build=smooth_slopes,
    ),
)
