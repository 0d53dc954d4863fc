"""Gaussian, regression and OT-normal: a position on the scale (Araújo et al. 2020; Shaham et al. 2020)."""

from typing import final

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._core.tensors import Labels, Outputs, PerSample, Scores
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.class_distance import expected_distance
from onepeak.methods.cumulative_link import log_normal_mass
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.precision import below_the_peak, widened
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import number

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
        variance_weight: :math:`\lambda`.

    Example:
        >>> import torch
        >>> gaussian = Gaussian(num_classes=5)
        >>> gaussian.predict(torch.tensor([[-1.0, 0.0], [0.4, 0.0]]))
        tensor([0, 3])

    Reference: Araújo et al., "DR|GRADUATE: uncertainty-aware deep learning-based diabetic retinopathy grading in eye
    fundus images", Medical Image Analysis 2020.
    """

    num_outputs = 2
    variance_weight: float = number(0.1, minimum=0)

    def deviation(self, outputs: Outputs) -> PerSample:
        """The standard deviation, in classes."""
        widest = float(self.num_classes)  # torch.onnx cannot clamp between a float and an integer
        return F.softplus(outputs[..., 1]).clamp(NARROWEST, widest)

    def class_scores(self, outputs: Outputs) -> Scores:
        place = place_on_scale(outputs[..., 0], self.num_classes)
        return gaussian_scores(place, self.deviation(outputs), self.num_classes)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        penalty = self.variance_weight * self.deviation(outputs).square()
        return cross_entropy(self.class_scores(outputs), labels) + penalty


def gaussian_scores(mean: PerSample, deviation: PerSample | float, num_classes: int) -> Scores:
    r"""Log-density of a Gaussian at each class, :math:`-(k - m)^2 / 2 \sigma^2`, shifted to a maximum of 0.

    Computed as :math:`k (m - k / 2) / \sigma^2`, without the square of the mean: for a mean far off the scale it would
    swamp the differences between classes.
    """
    wide = widened(mean)
    classes = torch.arange(num_classes, device=wide.device, dtype=wide.dtype)
    spread = deviation.unsqueeze(-1).to(wide.dtype) if isinstance(deviation, Tensor) else deviation
    return below_the_peak(classes * (wide.unsqueeze(-1) - classes / 2) / spread**2, mean.dtype)


def place_on_scale(output: PerSample, num_classes: int) -> PerSample:
    """Maps an output to a position on the scale of classes: -1 is the first class, 0 the middle, 1 the last."""
    return (output + 1) * (num_classes - 1) / 2


GAUSSIAN = MethodRecord(
    "gaussian", "Gaussian uncertainty", "distribution", num_outputs="2", unimodal=True, build=Gaussian
)


@final
class Regression(SoftmaxMethod):
    r"""One output, from -1 for the first class to 1 for the last, trained with squared error.

    .. math:: \ell = \Big( o - \Big( \frac{2 y}{c - 1} - 1 \Big) \Big)^2, \qquad
              p_k \propto e^{-(k - m)^2 / 2 \sigma^2}, \qquad m = (o + 1) \frac{c - 1}2

    This baseline treats the classes as equally spaced. The loss is in units of half the scale, whatever the number of
    classes. It does not model uncertainty: the posterior is a Gaussian of fixed width around the predicted position.
    One-peaked by construction (two neighbours tie if the position is midway between them). Prediction: the mode, which
    is the position, rounded to the nearest class and clamped to the scale.

    Args:
        deviation: :math:`\sigma` of the posterior, in classes; the loss does not use it.

    Example:
        >>> import torch
        >>> regression = Regression(num_classes=5)
        >>> regression.predict(torch.tensor([[-7.0], [0.4], [1.0]]))
        tensor([0, 3, 4])
    """

    num_outputs = 1
    deviation: float = number(1.0, above=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        targets = 2 * labels.to(outputs.dtype) / (self.num_classes - 1) - 1
        return (outputs.squeeze(-1) - targets).square()

    def class_scores(self, outputs: Outputs) -> Scores:
        place = place_on_scale(outputs.squeeze(-1), self.num_classes)
        return gaussian_scores(place, self.deviation, self.num_classes)


REGRESSION = MethodRecord(
    "regression",
    "regression, rounded",
    "distance",
    reference="the baseline that treats classes as numbers",
    num_outputs="1",
    unimodal=True,
    build=Regression,
)


@final
class TruncatedNormal(SoftmaxMethod):
    r"""The network outputs a position; the posterior is a normal distribution around it, cut off at both ends.

    .. math:: p_k \propto \Phi \Big( \frac{k + \frac12 - m}\sigma \Big) - \Phi \Big( \frac{k - \frac12 - m}\sigma
              \Big), \qquad m = (o + 1) \frac{c - 1}2, \qquad \ell = \sum_{k=0}^{c-1} p_k |k - y|^\alpha

    The loss is the cost of moving the posterior to the label, which is optimal transport: for one label there is only
    one plan. One-peaked by construction (two neighbours tie if the position is midway between them). The deviation is
    a setting: if it were learnt, this loss would be least at 0. Far beyond the ends of the scale the gradient fades.

    Args:
        deviation: :math:`\sigma`, in classes.
        power: :math:`\alpha`.

    Example:
        >>> normal = TruncatedNormal(num_classes=5)
        >>> normal.predict(torch.tensor([[-1.0], [0.4]]))
        tensor([0, 3])

    Reference: Shaham, Zaidman, Svirsky, "Deep ordinal regression using optimal transport loss and unimodal output
    probabilities", 2020.
    """

    num_outputs = 1
    deviation: float = number(1.0, above=0)
    power: float = number(1.0, above=0)

    def class_scores(self, outputs: Outputs) -> Scores:
        mean = place_on_scale(widened(outputs), self.num_classes)
        edges = torch.arange(self.num_classes + 1, device=mean.device, dtype=mean.dtype) - 0.5
        places = (edges - mean) / self.deviation
        return below_the_peak(log_normal_mass(places[..., :-1], places[..., 1:]), outputs.dtype)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return expected_distance(self.class_scores(outputs), labels, self.power)


OT_NORMAL = MethodRecord(
    "ot-normal",
    "optimal transport to a truncated normal",
    "distribution",
    num_outputs="1",
    unimodal=True,
    build=TruncatedNormal,
)
