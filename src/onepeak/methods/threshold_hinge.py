"""AT and IT hinge: a position between thresholds, with margins (Shashua & Levin 2002; Chu & Keerthi 2005)."""

from dataclasses import replace
from typing import final

import torch
from torch import Tensor

from onepeak._core.tensors import Labels, LogProbs, Outputs, PerSample, full_precision
from onepeak.methods.cumulative_link import CumulativeLink
from onepeak.methods.levels import answers
from onepeak.methods.method import Method
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice, number


@final
class ThresholdHinge(Method):
    r"""The network outputs a position on a line, which must lie on the right side of thresholds by a margin.

    .. math:: \ell = \sum_{k \in K_y} \max(0, \delta - \sigma_{yk} (o - \theta_k)), \qquad \sigma_{yk} = +1
              \text{ if } k < y, \text{ else } -1

    where K is all thresholds, or the two next to the label ("immediate"). With all thresholds, the loss is an upper
    bound of the absolute error; with the immediate ones, of the error rate. The thresholds are those of
    `CumulativeLink`: parameters, in order by construction, trained with ten times the learning rate of the network.
    The authors give labels only. Our posterior is that of proportional odds at the same thresholds, and the prediction
    its median, the number of thresholds below the position, as theirs.

    Args:
        thresholds: "all" or "immediate".
        margin: :math:`\delta`.

    Example:
        >>> hinge = ThresholdHinge(num_classes=3)  # thresholds -0.69 and 0.69
        >>> hinge.loss(torch.zeros(1, 1), torch.tensor([0]))  # (1 - 0.69) + (1 - 0.69) and above -0.69 by 0.69
        tensor(2., grad_fn=...)

    Reference: Chu, Keerthi, "New approaches to support vector ordinal regression", ICML 2005; Shashua, Levin, "Ranking
    with large margin principle", NeurIPS 2002; Rennie, Srebro, "Loss functions for preference levels", 2005.
    """

    decision = "median"
    own_rate = 10.0
    num_outputs = 1
    thresholds: str = choice("all", "immediate")
    margin: float = number(1.0, above=0)

    def setup(self) -> None:
        self.line = CumulativeLink(self.num_classes)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        above = answers(labels, self.num_classes - 1)
        beyond = full_precision(outputs) - self.line.thresholds.to(outputs.dtype)
        hinges = (self.margin - torch.where(above, beyond, -beyond)).relu()
        return (hinges if self.thresholds == "all" else hinges * self._next_to(labels, hinges)).sum(dim=-1)

    def _next_to(self, labels: Labels, like: Tensor) -> Tensor:
        place = torch.arange(self.num_classes - 1, device=labels.device)
        return ((place == labels.unsqueeze(-1)) | (place == labels.unsqueeze(-1) - 1)).to(like.dtype)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return self.line.posterior_of(outputs)


AT_HINGE = MethodRecord(
    "at-hinge", "hinge at all thresholds", "levels", num_outputs="1", build=ThresholdHinge, fixed={"thresholds": "all"}
)

IT_HINGE = replace(
    AT_HINGE, name="it-hinge", title="hinge at the two next thresholds", fixed={"thresholds": "immediate"}
)
