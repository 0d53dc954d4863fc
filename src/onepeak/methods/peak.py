"""Peak: the method to choose. Neighbouring class scores learn together, under a steep log-barrier (onepeak's own)."""

from typing import final

from torch import Tensor, nn

from onepeak._core.check import check_number
from onepeak._core.reduce import Reduction, check_reduction
from onepeak._core.tensors import LabelProbs, Labels, PerClass, PerSample, Scores
from onepeak.constraints.barrier import LogBarrier
from onepeak.methods.constrained import Constrained
from onepeak.methods.record import MethodRecord
from onepeak.methods.rps import RankedProbability
from onepeak.methods.smoothed import Smoothed

T = 3.0
"""Steepness of the barrier: order matters more than wide margins, which cost accuracy."""


def peak(num_classes: int, *, t: float = T, rps_weight: float = 1.0, class_weight: PerClass | None = None) -> Smoothed:
    r"""Class scores whose neighbours learn together, trained by three terms under a steep log-barrier.

    .. math:: \ell = -\log p_y + w \sum_{k=0}^{c-2} \big( P(Y \le k) - [y \le k] \big)^2
              + \sum_{k=0}^{c-2} \hat I_t(\Delta_k), \qquad p = \mathrm{softmax}(o)

    where o are the network's outputs averaged over their neighbours (`Smoothed`). In steps from the paper's ELB: its
    barrier with t = 3 from the start, so that order costs little accuracy; the ranked probability score beside
    cross-entropy, so that distance counts; averaged outputs, so that neighbouring classes share what they learn, which
    a steep barrier needs. No setting depends on the number of classes.

    Args:
        t: Steepness of the barrier, constant during training.
        rps_weight: w, the weight of the ranked probability score.

    Example:
        >>> import torch
        >>> peak(3).loss(torch.tensor([[0.0, 2.0, 0.0]]), torch.tensor([1]))
        tensor(1.2989)
    """
    return Smoothed(_barred(num_classes, t, rps_weight, class_weight))


@final
class PeakLoss(nn.Module):
    r"""The loss of `peak` for your own training loop: in place of `nn.CrossEntropyLoss` when classes have an order.

    .. code-block:: python

        network = nn.Sequential(backbone, nn.Linear(512, 70), onepeak.SmoothScores(70))
        loss = onepeak.PeakLoss(num_classes=70)

    `SmoothScores` follows the network's last layer. The softmax of its scores is the posterior and the highest score
    the prediction, as with cross-entropy. Nothing has to be called during training: the barrier does not change.

    Args:
        t: Steepness of the barrier.
        rps_weight: w, the weight of the ranked probability score.
        weight: Class weights, as in `nn.CrossEntropyLoss`.
        reduction: "none", "mean" or "sum". The mean divides by the total weight of the samples.

    Example:
        >>> import torch
        >>> loss = PeakLoss(num_classes=3)
        >>> loss(torch.tensor([[0.0, 2.0, 0.0]], requires_grad=True), torch.tensor([1]))
        tensor(-0.1999, grad_fn=...)
    """

    def __init__(
        self,
        num_classes: int,
        *,
        t: float = T,
        rps_weight: float = 1.0,
        weight: PerClass | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__()
        check_reduction(reduction)
        self.reduction: Reduction = reduction
        self.method = _barred(num_classes, t, rps_weight, weight)

    def forward(self, scores: Scores, labels: Labels | LabelProbs, sample_weight: PerSample | None = None) -> Tensor:
        """The loss of raw scores of shape (..., num_classes); classes are always the last axis."""
        return self.method.loss(scores, labels, sample_weight, reduction=self.reduction)


def _barred(num_classes: int, t: float, rps_weight: float, class_weight: PerClass | None) -> Constrained:
    """Cross-entropy and the ranked probability score under a barrier of constant steepness."""
    check_number("t", t, above=0)
    check_number("rps_weight", rps_weight, above=0)
    base = RankedProbability(
        num_classes, weight=rps_weight, cross_entropy_weight=1.0, decision="mode", class_weight=class_weight
    )
    return Constrained(base, LogBarrier(num_classes, t, growth=1.0, t_max=t))


PEAK = MethodRecord(
    name="peak",
    title="neighbours learn together under a steep barrier",
    family="constraint",
    reference="onepeak",
    year=None,
    build=peak,
)
