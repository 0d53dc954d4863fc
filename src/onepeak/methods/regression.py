"""Regression: one number, rounded to a class."""

from typing import final

from onepeak._core.check import check_number
from onepeak._core.tensors import Labels, Outputs, PerClass, PerSample, Scores
from onepeak.methods.gaussian import gaussian_scores, place_on_scale
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord


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

    def __init__(self, num_classes: int, *, deviation: float = 1.0, class_weight: PerClass | None = None) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.deviation = check_number("deviation", deviation, above=0)

    @property
    def num_outputs(self) -> int:
        return 1

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        targets = 2 * labels.to(outputs.dtype) / (self.num_classes - 1) - 1
        return (outputs.squeeze(-1) - targets).square()

    def class_scores(self, outputs: Outputs) -> Scores:
        place = place_on_scale(outputs.squeeze(-1), self.num_classes)
        return gaussian_scores(place, self.deviation, self.num_classes)


REGRESSION = MethodRecord(
    name="regression",
    title="regression, rounded",
    family="distance",
    reference="the baseline that treats classes as numbers",
    num_outputs="1",
    unimodal=True,
    build=Regression,
)
