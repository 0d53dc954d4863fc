"""OT-normal: optimal transport to a truncated normal distribution at the output (Shaham et al. 2020)."""

from typing import final

import torch

from onepeak._core.tensors import Labels, Outputs, PerSample, Scores
from onepeak.methods.cumulative_link import log_normal_mass
from onepeak.methods.expected_error import expected_distance
from onepeak.methods.gaussian import place_on_scale
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.precision import below_the_peak, widened
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import number


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
    name="ot-normal",
    title="optimal transport to a truncated normal",
    family="distribution",
    reference="Shaham, Zaidman, Svirsky 2020, Deep ordinal regression using optimal transport loss",
    num_outputs="1",
    unimodal=True,
    build=TruncatedNormal,
)
