"""Gaussian uncertainty: a position on the scale and its uncertainty (Araújo et al. 2020)."""

from typing import final

from torch.nn import functional as F

from onepeak._check import check_number
from onepeak._shapes import Labels, Outputs, PerClass, PerSample, Scores
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.gaussian_scores import gaussian_scores, place_on_scale
from onepeak.methods.softmax import SoftmaxMethod

NARROWEST = 0.05
"""The smallest standard deviation, in classes: there the posterior already lies on one class."""


@final
class Gaussian(SoftmaxMethod):
    r"""The network outputs a mean and a standard deviation; the posterior is this Gaussian at the classes.

    .. math:: p_k \propto e^{-(k - m)^2 / 2 \sigma^2}, \qquad m = (o_0 + 1) \frac{c - 1}2, \qquad
              \sigma = \mathrm{softplus}(o_1), \qquad \ell = -\log p_y + \lambda \sigma^2

    The output of the mean is -1 for the first class and 1 for the last. The deviation, in classes, is clamped between
    0.05 and c. Its square is penalised so that the network does not default to high uncertainty. One-peaked by
    construction (two neighbours tie if the mean is midway between them). Prediction: the mode, which is the mean,
    rounded and clamped to the scale.

    This follows the paper's idea as implemented in later libraries; the paper itself samples from the Gaussian inside a
    multiple-instance network.

    Args:
        num_classes: Number of classes, at least 2.
        variance_weight: :math:`\lambda`.
        class_weight: Weight of each class.

    Example:
        >>> import torch
        >>> gaussian = Gaussian(num_classes=5)
        >>> gaussian.predict(torch.tensor([[-1.0, 0.0], [0.4, 0.0]]))
        tensor([0, 3])

    Reference: Araújo et al., "DR|GRADUATE: uncertainty-aware deep learning-based diabetic retinopathy grading in eye
    fundus images", Medical Image Analysis 2020.
    """

    def __init__(self, num_classes: int, *, variance_weight: float = 0.1, class_weight: PerClass | None = None) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.variance_weight = check_number("variance_weight", variance_weight, minimum=0)

    @property
    def num_outputs(self) -> int:
        """A position and a deviation."""
        return 2

    def deviation(self, outputs: Outputs) -> PerSample:
        """The standard deviation, in classes."""
        widest = float(self.num_classes)  # torch.onnx cannot clamp between a float and an integer
        return F.softplus(outputs[..., 1]).clamp(NARROWEST, widest)

    def class_scores(self, outputs: Outputs) -> Scores:
        """The Gaussian's log-densities at the classes."""
        place = place_on_scale(outputs[..., 0], self.num_classes)
        return gaussian_scores(place, self.deviation(outputs), self.num_classes)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """Cross-entropy of the scores plus the penalty on the variance."""
        penalty = self.variance_weight * self.deviation(outputs).square()
        return cross_entropy(self.class_scores(outputs), labels) + penalty
