"""Noise-corrected: a loss that is unbiased although labels are wrong at a known rate (Garg & Manwani 2020)."""

from typing import final

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._core.check import check_num_classes, check_number
from onepeak._core.reduce import sample_per_class
from onepeak._core.tensors import Labels, Outputs, PerClass, PerSample
from onepeak.errors import InputError
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.method import Method, Wrapped
from onepeak.methods.precision import ExactTable
from onepeak.methods.record import MethodRecord
from onepeak.methods.soft_labels import check_targets, distances


@final
class NoiseCorrected(Wrapped):
    r"""A base method whose loss, on noisy labels, is on average that on clean ones.

    .. math:: \ell(o, \tilde y) = \sum_{k=0}^{c-1} (T^{-1})_{\tilde y k} \, \ell_{base}(o, k), \qquad
              T_{kj} = P(\tilde y = j \mid y = k)

    A row of the inverse sums to one and has negative parts: labels that are often mistaken for the given one count
    against it. So the loss may be negative, and a network large enough to remember single labels can lower it without
    bound: stop early. Posterior and prediction are those of the base method.

    Args:
        base: The method to correct; its loss must not depend on the rest of the batch.
        noise: T, a c x c table: row k holds the probabilities of the given label if k is true. Invertible.

    Example:
        >>> half = NoiseCorrected(CrossEntropy(num_classes=2), torch.tensor([[0.75, 0.25], [0.25, 0.75]]))
        >>> half.loss(torch.tensor([[1.0, 0.0]]), torch.tensor([0]))  # 1.5 of .3133, less 0.5 of 1.3133
        tensor(-0.1867)

    Reference: Garg, Manwani, "Robust deep ordinal regression under label noise", ACML 2020; Natarajan et al.,
    "Learning with noisy labels", NeurIPS 2013.
    """

    def __init__(self, base: Method, noise: Tensor) -> None:
        super().__init__(base)
        check_targets(noise, name="noise")
        if len(noise) != base.num_classes:
            raise InputError(f"`noise` must have {base.num_classes} rows, one per class, got {len(noise)}.")
        if base.batchwise or base.counts_samples:
            raise InputError(f"`base` must have a loss of each sample alone, got {type(base).__name__}.")
        inverse, failed = torch.linalg.inv_ex(noise.double())
        if failed:
            raise InputError("`noise` must be invertible: labels that it does not tell apart cannot be corrected.")
        self.inverse = ExactTable(inverse)

    def weighted_losses(self, outputs: Outputs, labels: Labels, weights: PerSample | None) -> PerSample:
        shares = F.embedding(labels, self.inverse.values).to(outputs.dtype)
        outputs, classes, shares = sample_per_class(outputs, shares, None)
        losses = (self.base.weighted_losses(outputs, classes, None) * shares).sum(dim=-1)
        return losses if weights is None else losses * weights

    def mean_loss(self, outputs: Outputs, labels: Labels) -> Tensor:
        return self.weighted_losses(outputs, labels, None).mean()


def noise_corrected(num_classes: int, *, rate: float = 0.1, class_weight: PerClass | None = None) -> NoiseCorrected:
    """Cross-entropy where a share of the labels is that of a neighbouring class.

    For another noise or another base, build `NoiseCorrected` yourself.

    Args:
        rate: The share of wrong labels, below one half. Half of them are one class too low and half too high; at the
            ends of the scale the half that has nowhere to go is right.

    Example:
        >>> noise_corrected(3, rate=0.2).loss(torch.zeros(1, 3), torch.tensor([1]))  # log 3, whatever the label
        tensor(1.0986)
    """
    share = check_number("rate", rate, above=0, below=0.5) / 2
    neighbours = share * (distances(check_num_classes(num_classes)) == 1).double()
    noise = neighbours + torch.diag(1 - neighbours.sum(dim=-1))
    return NoiseCorrected(CrossEntropy(num_classes, class_weight=class_weight), noise)


NOISE_CORRECTED = MethodRecord(
    "noise-corrected",
    "cross-entropy corrected for wrong neighbours",
    "soft-labels",
    reference='Garg, Manwani, "Robust deep ordinal regression under label noise", ACML 2020',
    build=noise_corrected,
)
