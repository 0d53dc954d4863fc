"""Whether posteriors fall away from a label on both sides, and if not, how often and by how much they fail to."""

from typing import final, get_args

import torch
from torch import Tensor

from onepeak._core.check import check_choice
from onepeak._core.tensors import Scalar
from onepeak.constraints.gaps import pairs_in_order
from onepeak.metrics import functional
from onepeak.metrics._base import OrdinalMetric, SampleMean
from onepeak.metrics.functional.side_order_index import Reference
from onepeak.posterior.shape import Unimodality, is_unimodal


class PairMetric(OrdinalMetric):
    """A metric that counts the adjacent pairs of classes whose scores fall strictly away from a reference label.

    All pair metrics keep the same sums, for both references, so a `torchmetrics.MetricCollection` computes them once
    for all of them.
    """

    pairs_in_order: Tensor

    def __init__(self, num_classes: int, *, reference: Reference = "predicted") -> None:
        check_choice("reference", reference, get_args(Reference))
        super().__init__(num_classes=num_classes)
        self.reference = reference
        sums = torch.zeros(3, dtype=torch.float64)  # in order to the predicted labels, to the true ones; weights
        self.add_state("pairs_in_order", sums, dist_reduce_fx="sum")

    def _mean_in_order(self) -> Tensor:
        """Returns how many of the c - 1 pairs are in order, on average."""
        to_predicted, to_true, weight = self.pairs_in_order
        mean: Tensor = (to_predicted if self.reference == "predicted" else to_true) / weight
        return mean

    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor) -> None:
        predicted = log_probs.argmax(dim=-1) if predicted is None else predicted
        sums = [(pairs_in_order(log_probs, about) * weights).sum() for about in (predicted, labels)]
        self.pairs_in_order = self.pairs_in_order + torch.stack([*sums, weights.sum()])


@final
class SideOrderIndex(PairMetric):
    """Mean share of adjacent pairs of classes that fall strictly away from the reference label.

    See `functional.side_order_index`.

    Args:
        reference: The label to fall away from: "predicted" (is the posterior consistent with its own prediction?) or
            "true".

    Example:
        >>> import torch
        >>> metric = SideOrderIndex(num_classes=3, reference="predicted")
        >>> metric.update(torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]]).log(), torch.tensor([1, 1]))
        >>> metric.compute().item()
        0.75
        >>> round(metric.chance, 4)
        0.8333

    Reference: Belharbi et al. 2019, section 4 (performance metrics).
    """

    higher_is_better = True

    @property
    def chance(self) -> float:
        """The mean value for random scores, with their mode as the prediction."""
        return functional.side_order_chance(self.num_classes, reference=self.reference)

    def compute(self) -> Scalar:
        return self._mean_in_order() / (self.num_classes - 1)


@final
class NumViolations(PairMetric):
    """Mean number of adjacent pairs that do not fall away from the reference label; ties are violations.

    See `functional.num_violations`.

    Args:
        reference: The label to fall away from: "predicted" or "true".
    """

    higher_is_better = False

    def compute(self) -> Scalar:
        return self.num_classes - 1 - self._mean_in_order()


@final
class ViolationSize(SampleMean):
    """Mean probability by which a posterior rises on the way out from the reference label: `functional.violation_size`.

    Args:
        reference: The label to fall away from: "predicted" or "true".
    """

    higher_is_better = False

    def __init__(self, num_classes: int, *, reference: Reference = "predicted") -> None:
        check_choice("reference", reference, get_args(Reference))
        super().__init__(num_classes=num_classes, quantity=f"violation_size_{reference}")
        self.reference = reference

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:
        return functional.violation_size(log_probs, predicted if self.reference == "predicted" else labels)


@final
class UnimodalRate(SampleMean):
    """Share of posteriors with one peak: they rise strictly to their mode and fall strictly after it.

    See `onepeak.posterior.is_unimodal`.
    """

    higher_is_better = True

    def __init__(self, num_classes: int, *, tolerance: float = 0.0, definition: Unimodality = "strict") -> None:
        super().__init__(num_classes=num_classes, quantity=f"unimodal_{definition}_{tolerance!r}")
        is_unimodal(torch.empty(0, 2), tolerance, definition=definition)  # checks that the settings fit together
        self.tolerance = tolerance
        self.definition = definition

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:  # noqa: ARG002
        return is_unimodal(log_probs, self.tolerance, definition=self.definition)
