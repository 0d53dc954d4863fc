"""How well the predicted labels agree with the true ones beyond chance."""

from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor

from onepeak._core.check import check_choice, check_number, check_weights, readable
from onepeak._core.tensors import Labels, PerSample, Scalar
from onepeak.errors import InputError
from onepeak.metrics.functional.confusion_matrix import class_distances, confusion_matrix

NamedWeighting: TypeAlias = Literal["none", "linear", "quadratic"]
"""The cost of a disagreement: constant, its distance, or its squared distance."""
Weighting: TypeAlias = NamedWeighting | float | Tensor
"""The cost of a disagreement: a name, a power of the distance, or a table of costs."""


def weighted_kappa(
    predicted: Labels,
    labels: Labels,
    *,
    num_classes: int,
    weighting: Weighting = "quadratic",
    sample_weight: PerSample | None = None,
) -> Scalar:
    r"""Cohen's kappa: one minus the cost of the disagreements relative to independent labels with the same margins.

    .. math:: \kappa = 1 - \frac{\sum_{ij} w_{ij} \, O_{ij}}{\sum_{ij} w_{ij} \, E_{ij}}

    with :math:`O` the observed shares, :math:`E` those by chance, and :math:`w_{ij}` the cost of predicting j for i. At
    most 1, higher is better, 0 is chance. Never below -1 for the named weightings; powers above 2 and tables may go
    lower. Nan if chance also costs nothing, as when all labels are the same class, or without samples.

    Args:
        weighting: The costs: "none" (1 for every error: plain kappa), "linear" (:math:`|i - j|`), "quadratic"
            (:math:`(i - j)^2`), a power of the distance, or a table of true (row) by predicted (column) labels.

    Example:
        >>> predicted, labels = torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2])
        >>> [round(weighted_kappa(predicted, labels, num_classes=3, weighting=w).item(), 4) for w in ("none", "linear")]
        [0.6364, 0.7143]

    Reference: Cohen 1968, Weighted kappa.
    """
    check_weighting(weighting, num_classes)
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    costs = _costs(weighting, table)
    by_chance = torch.outer(table.sum(dim=1), table.sum(dim=0)) / table.sum()
    return 1 - (costs * table).sum() / (costs * by_chance).sum()


def quadratic_weighted_kappa(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    """Cohen's kappa with disagreements weighted by their squared distance, the usual choice for grades.

    Range -1 to 1, higher is better, 0 is chance; nan if all true and predicted labels are the same class, or without
    samples. See `weighted_kappa`.

    Example:
        >>> quadratic_weighted_kappa(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]), num_classes=3).item()
        0.8

    Reference: Cohen 1968, Weighted kappa.
    """
    return weighted_kappa(
        predicted, labels, num_classes=num_classes, weighting="quadratic", sample_weight=sample_weight
    )


def check_weighting(weighting: Weighting, num_classes: int) -> None:
    """Checks for a known name, a power above zero, or a table of costs with zeros on its diagonal."""
    if isinstance(weighting, str):
        check_choice("weighting", weighting, get_args(NamedWeighting))
    elif not isinstance(weighting, Tensor):
        check_number("weighting", weighting, above=0)
    else:
        check_weights(weighting, (num_classes, num_classes), name="weighting")
        if readable(weighting) and weighting.diagonal().any():
            raise InputError("`weighting` must be zero on its diagonal, where both labels agree, got a nonzero cost.")


def _costs(weighting: Weighting, table: Tensor) -> Tensor:
    """Returns the cost of each cell of a table, for a weighting that has been checked."""
    if isinstance(weighting, Tensor):
        return weighting.to(table)
    distances = class_distances(table)
    match weighting:
        case "none":
            return (distances > 0).to(table)
        case "linear":
            return distances
        case "quadratic":
            return distances.square()
        case _:
            return distances.pow(weighting)
