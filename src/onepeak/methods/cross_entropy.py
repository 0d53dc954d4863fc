"""CE: cross-entropy, which ignores the order."""

from typing import final

from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord


@final
class CrossEntropy(SoftmaxMethod):
    r"""Softmax and cross-entropy.

    .. math:: \ell = -\log \mathrm{softmax}(s)_y

    The published code does the same.

    Example:
        >>> import torch
        >>> ce = CrossEntropy(num_classes=2)
        >>> ce.loss(torch.tensor([[0.0, 0.0]]), torch.tensor([1]))
        tensor(0.6931)
    """


CE = MethodRecord(
    "ce",
    "cross-entropy",
    "plain",
    reference="the baseline, which ignores the order",
    as_published="same",
    build=CrossEntropy,
)
