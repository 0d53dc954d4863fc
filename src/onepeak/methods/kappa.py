"""WK: the weighted kappa of a batch as a loss (de la Torre et al. 2018; Vargas et al. 2020)."""

from typing import final

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._core.tensors import Labels, Outputs, PerSample
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice

_NO_DISAGREEMENT = 1e-10
"""Added to the disagreement expected by chance, which is 0 if a batch has one label and it is always predicted."""


@final
class WeightedKappa(SoftmaxMethod):
    r"""One minus Cohen's weighted kappa, with probabilities in place of decisions.

    .. math:: \ell = \frac{\sum_i \sum_k \omega_{k, y_i} p_{ik}}
              {\frac1N \sum_k \sum_l \omega_{kl} \sum_i p_{ik} \sum_i [y_i = l]}, \qquad
              \omega_{kl} = \Big( \frac{|k - l|}{c - 1} \Big)^{1 \text{ or } 2}

    which is the observed disagreement divided by the disagreement expected by chance: 0 is perfect, 1 is chance, the
    maximum is 2. It is a property of a **batch**: the loss of a sample is its disagreement divided by the mean
    disagreement by chance in the batch. The mean over samples is the formula above, and a batch of one sample always
    gives 1. Weights also apply to the class shares of the batch. Small batches make the loss noisy.

    De la Torre et al. minimise the logarithm of this ratio; the bounded form without it is that of Vargas et al.

    Args:
        penalty: "quadratic" or "linear" in the distance.

    Example:
        >>> wk = WeightedKappa(num_classes=2)
        >>> wk.loss(torch.zeros(2, 2), torch.tensor([0, 1]))  # no better than chance
        tensor(1.)

    Reference: de la Torre, Puig, Valls, "Weighted kappa loss function for multi-class classification of ordinal data
    in deep learning", PRL 2018; Vargas, Gutiérrez, Hervás-Martínez, "Cumulative link models for deep ordinal
    classification", Neurocomputing 2020.
    """

    batchwise = True
    penalty: str = choice("quadratic", "linear")

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return self.weighted_losses(outputs, labels, None)

    def weighted_losses(self, outputs: Outputs, labels: Labels, weights: PerSample | None) -> PerSample:
        """The same for weighted samples: a sample of weight 2 counts as if it occurred twice in the batch."""
        probs = outputs.softmax(dim=-1).reshape(-1, self.num_classes)
        given = F.one_hot(labels, self.num_classes).to(probs.dtype).reshape(-1, self.num_classes)
        weight = probs.new_ones(len(probs)) if weights is None else weights.reshape(-1).to(probs.dtype)
        shares = weight.unsqueeze(-1) / weight.sum().clamp(min=torch.finfo(weight.dtype).tiny)
        predicted_shares, given_shares = (shares * probs).sum(dim=0), (shares * given).sum(dim=0)
        # not as matrix products, which autocast would round to half precision
        costs = self.costs(probs)
        by_chance = (costs * predicted_shares.unsqueeze(-1) * given_shares).sum()
        disagreement = (probs * costs[labels.reshape(-1)]).sum(dim=-1)
        return (weight * disagreement / (by_chance + _NO_DISAGREEMENT)).reshape(labels.shape)

    def costs(self, like: Tensor) -> Tensor:
        """The cost of predicting one class for another, from 0 to 1."""
        classes = torch.arange(self.num_classes, device=like.device, dtype=like.dtype)
        distances = (classes.unsqueeze(-1) - classes).abs() / (self.num_classes - 1)
        return distances if self.penalty == "linear" else distances.square()


WK = MethodRecord("wk", "weighted kappa of the batch", "distance", build=WeightedKappa)
