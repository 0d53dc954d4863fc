"""Imbalance over classes: weights of the loss, and the adjustment of logits."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from onepeak._core.tensors import real_tensors
from onepeak.errors import InputError
from onepeak.methods import Method

REACH, DEVIATION = 2, 2.0
"""The kernel of Yang et al. 2021: a Gaussian of this standard deviation over this many classes on either side."""


def smoothed_counts(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Returns how many samples each class has in effect, neighbours included (label-distribution smoothing, LDS).

    A class borrows from its neighbours what their images tell of it, so that a rare age between frequent ones is not
    weighted as if nothing were known of it. The kernel sums to 1; at the ends, to 1 over the classes that exist.

    Example:
        >>> smoothed_counts(np.array([0, 100, 0, 0, 0, 0])).round(1).tolist()
        [35.5, 29.7, 22.2, 15.2, 0.0, 0.0]

    Reference: Yang, Zha, Chen, Wang, Katabi, "Delving into deep imbalanced regression", ICML 2021, eq. 1.
    """
    apart = np.abs(np.arange(len(counts))[:, None] - np.arange(len(counts)))
    kernel = np.where(apart <= REACH, np.exp(-(apart**2) / (2 * DEVIATION**2)), 0.0)
    effective: npt.NDArray[np.float64] = (kernel / kernel.sum(axis=1, keepdims=True)) @ counts
    return effective


def class_weights(
    wanted: str | Sequence[float] | None, labels: npt.NDArray[np.int64], num_classes: int
) -> tuple[float, ...] | None:
    """Returns the weight of each class for a recipe's `class_weight` and the training labels.

    "balanced" is defined as in scikit-learn: every class that occurs has the same total weight, and the mean weight of
    a sample is 1. A class that does not occur, which only a validation loss can meet, gets the weight of the rarest
    class that does. "lds" is the inverse of the smoothed counts, with the same mean.
    """
    if wanted is None:
        return None
    if isinstance(wanted, str):
        counts = np.bincount(labels, minlength=num_classes)
        if wanted == "lds":
            effective = smoothed_counts(counts)
            inverse = 1 / effective.clip(min=effective[counts > 0].min())
            return tuple((inverse * counts.sum() / (inverse * counts).sum()).tolist())
        found = counts[counts > 0]
        weights = counts.sum() / (len(found) * counts.clip(min=found.min()))
        return tuple(weights.tolist())
    if len(wanted) != num_classes:
        raise InputError(
            f"`class_weight` must be 'balanced', 'lds' or {num_classes} numbers, one per class, got {len(wanted)} "
            "numbers.",
            argument="class_weight",
        )
    return tuple(float(weight) for weight in wanted)


def logit_shift(method: Method, labels: npt.NDArray[np.int64], strength: float) -> Tensor:
    r"""Returns what to add to a method's outputs in training, so that its class scores rise by the log-priors.

    .. math:: \ell(s + \tau \log \pi, y)

    Trained so, the scores themselves predict as if all classes were equally frequent. It works for every method whose
    class scores are linear in its outputs. A class without a sample gets the prior of half a sample.

    Args:
        method: The method to train.
        labels: The labels of the training samples.
        strength: :math:`\tau`; 1 for exactly the priors.

    Example:
        >>> import onepeak
        >>> logit_shift(onepeak.method("ce", num_classes=2), np.array([0, 0, 0, 1]), 1.0).softmax(dim=-1)
        tensor([0.7500, 0.2500])

    Reference: Menon et al., "Long-tail learning via logit adjustment", ICLR 2021, eq. 10.
    """
    counts = np.bincount(labels, minlength=method.num_classes).clip(min=0.5)
    wanted = strength * torch.from_numpy(np.log(counts / counts.sum()))
    with real_tensors(), torch.no_grad():
        try:
            zero = torch.zeros(method.num_outputs, dtype=torch.float64)
            at_zero = method.class_scores(zero)
            matrix = method.class_scores(torch.eye(method.num_outputs, dtype=torch.float64)) - at_zero
            probe = torch.linspace(-2, 3, method.num_outputs, dtype=torch.float64).sin()
            linear = torch.allclose(method.class_scores(probe), at_zero + probe @ matrix)
        except InputError:  # the method has no class scores
            linear = False
        if linear:  # scores mean the same with a constant added to all
            system = torch.cat([matrix, torch.ones(1, method.num_classes, dtype=torch.float64)])
            shift = torch.linalg.lstsq(system.T, wanted.unsqueeze(-1)).solution[:-1, 0]
            reached = shift @ matrix - wanted
            linear = torch.allclose(reached, reached.mean().expand_as(reached), atol=1e-6)
    if not linear:
        raise InputError(
            "`logit_adjustment` needs a method whose class scores are linear in its outputs, as those of ce, peak and "
            f"elb are, got {type(method).__name__}: use `class_weight` instead.",
            argument="logit_adjustment",
        )
    adjustment: Tensor = shift.float()
    return adjustment
