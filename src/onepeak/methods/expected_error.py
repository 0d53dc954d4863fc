"""SE: the squared error of the posterior's mean (Beckham & Pal 2016)."""

from typing import final

from onepeak._core.tensors import Labels, Outputs, PerSample
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord
from onepeak.posterior.decide import expected_label


@final
class ExpectedError(SoftmaxMethod):
    r"""The squared distance between the posterior's mean and the label.

    .. math:: \ell = (m - y)^2, \qquad m = \sum_{k=0}^{c-1} k \, \mathrm{softmax}(o)_k

    This is regression with a posterior: all distributions with the right mean are equally good, so nothing makes the
    posterior narrow or one-peaked. Prediction: the mean, rounded. This is the paper's variant with the class numbers as
    fixed weights; another variant learns the weights.

    Example:
        >>> import torch
        >>> se = ExpectedError(num_classes=3)
        >>> se.loss(torch.zeros(1, 3), torch.tensor([2]))
        tensor(1.)

    Reference: Beckham, Pal, "A simple squared-error reformulation for ordinal classification", 2016.
    """

    decision = "mean"

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return (expected_label(outputs) - labels).square()


SE = MethodRecord(
    name="se",
    title="squared error of the mean",
    family="distance",
    reference="Beckham, Pal 2016, A simple squared-error reformulation for ordinal classification",
    build=ExpectedError,
)
