r"""How often each class is found: its sensitivity, the share of its samples that are predicted correctly.

.. math:: S_k = \frac{n_{kk}}{\sum_j n_{kj}}

with :math:`n_{kj}` the number of samples of class k that are predicted as class j. These metrics ignore the order of
the classes, except `extreme_sensitivity`. They reveal errors on rare classes that a mean over samples hides.
"""

from typing import Literal, TypeAlias, get_args

import torch

from onepeak._core.check import check_choice, check_number
from onepeak._core.tensors import Labels, PerClass, PerSample, Scalar
from onepeak.metrics.functional.confusion_matrix import confusion_matrix

Average: TypeAlias = Literal["arithmetic", "geometric"]
"""How two sensitivities are averaged."""


def balanced_accuracy(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    """The mean sensitivity of the classes: accuracy with equal weight for every class.

    Range 0 to 1, higher is better. Classes without a true sample are left out; nan without samples.

    Example:
        >>> balanced_accuracy(torch.tensor([0, 0, 0, 0]), torch.tensor([0, 0, 0, 1]), num_classes=4).item()
        0.5

    Reference: Brodersen et al. 2010, The balanced accuracy and its posterior distribution.
    """
    return _sensitivities(predicted, labels, num_classes, sample_weight).nanmean()


def geometric_mean_sensitivity(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    r"""The geometric mean of the sensitivities, :math:`\sqrt[m]{\prod_k S_k}`: zero if one class is never found.

    Range 0 to 1, higher is better. The m classes are those with a true sample; nan without samples.

    Example:
        >>> predicted, labels = torch.tensor([0, 1, 1, 1, 1]), torch.tensor([0, 0, 0, 0, 1])
        >>> geometric_mean_sensitivity(predicted, labels, num_classes=4).item()  # of 1/4 and 1
        0.5

    Reference: Kubat, Matwin 1997, Addressing the curse of imbalanced training sets.
    """
    # Through logarithms, because the product of seventy shares can underflow; log 0 is minus infinity, whose exp is 0.
    return _sensitivities(predicted, labels, num_classes, sample_weight).log().nanmean().exp()


def minimum_sensitivity(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    """The sensitivity of the class that is found least often.

    Range 0 to 1, higher is better. Classes without a true sample are left out; nan without samples.

    Example:
        >>> minimum_sensitivity(torch.tensor([0, 0, 1, 1]), torch.tensor([0, 0, 0, 1]), num_classes=4).item()
        0.6666666666666666

    Reference: Fernández-Caballero et al. 2010, Sensitivity versus accuracy in multiclass problems.
    """
    found = _sensitivities(predicted, labels, num_classes, sample_weight)
    smallest = found.nan_to_num(nan=2.0).min()
    return torch.where(smallest <= 1, smallest, torch.nan)


def extreme_sensitivity(
    predicted: Labels,
    labels: Labels,
    *,
    num_classes: int,
    average: Average = "arithmetic",
    sample_weight: PerSample | None = None,
) -> Scalar:
    """The mean sensitivity of the first and the last class: MES, or GMES (GMSEC) with the geometric mean.

    Range 0 to 1, higher is better. Nan if the first or the last class of the scale has no true sample; other classes
    may be absent.

    Example:
        >>> extreme_sensitivity(torch.tensor([0, 0, 1, 2]), torch.tensor([0, 1, 2, 2]), num_classes=3).item()
        0.75

    Reference: Vargas et al. 2024, Improving the classification of extreme classes by means of loss regularisation and
    generalised beta distributions.
    """
    check_choice("average", average, get_args(Average))
    sensitivities = _sensitivities(predicted, labels, num_classes, sample_weight)
    first, last = sensitivities[0], sensitivities[-1]
    match average:
        case "arithmetic":
            return (first + last) / 2
        case "geometric":
            return (first * last).sqrt()


def index_of_balanced_accuracy(
    predicted: Labels,
    labels: Labels,
    *,
    num_classes: int,
    alpha: float = 0.1,
    sample_weight: PerSample | None = None,
) -> Scalar:
    r"""Each class against all others: the product of sensitivity and specificity, raised where sensitivity is higher.

    .. math:: \frac1m \sum_k \big( 1 + \alpha (S_k - \bar S_k) \big) \, S_k \, \bar S_k

    with :math:`\bar S_k` the specificity, the share of the other classes' samples that are not predicted as class k.
    The index is defined for two classes. For more it is averaged over the m classes with a true sample, with equal
    weights (imbalanced-learn's report weights them by samples). Range 0 to 1, higher is better; nan if one class has
    all true samples, or without samples.

    Example:
        >>> # sensitivities 1/2 and 1: ((1 - .05) * .5 + (1 + .05) * .5) / 2
        >>> predicted, labels = torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1])
        >>> index_of_balanced_accuracy(predicted, labels, num_classes=2).item()
        0.5

    Reference: García, Mollineda, Sánchez 2009, Index of balanced accuracy: a performance measure for skewed class
    distributions.
    """
    check_number("alpha", alpha, minimum=0, maximum=1)
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    hits, of_class, as_class = table.diagonal(), table.sum(dim=1), table.sum(dim=0)
    sensitivity, specificity = hits / of_class, 1 - (as_class - hits) / (table.sum() - of_class)
    index = (1 + alpha * (sensitivity - specificity)) * sensitivity * specificity
    return index.nanmean()


def _sensitivities(predicted: Labels, labels: Labels, num_classes: int, sample_weight: PerSample | None) -> PerClass:
    """Returns the sensitivity of each class; nan for a class without a true sample."""
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    return table.diagonal() / table.sum(dim=-1)
