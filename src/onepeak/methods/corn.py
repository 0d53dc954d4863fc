"""CORN: each question is asked only of samples above the previous level (Shi et al. 2021)."""

from typing import final

from onepeak._core.tensors import Labels, LogProbs, Outputs, PerSample
from onepeak.methods.levels import log_products
from onepeak.methods.method import Method
from onepeak.methods.record import MethodRecord


@final
class Corn(Method):
    r"""The network answers "is the label above k, if it is at least k?" for each of the c - 1 levels.

    .. math:: \ell = -\sum_{k < y} \log \sigma(o_k) - [y < c - 1] \log \sigma(-o_y) = -\log p_y, \qquad
              p_k = \sigma(-o_k) \prod_{j < k} \sigma(o_j)

    The levels, :math:`P(y > k) = \prod_{j \le k} \sigma(o_j)`, fall by construction, and the losses of the questions
    add up to minus the log-likelihood. The sum is over the questions asked of a sample, the mean over samples. (The
    paper and coral-pytorch divide by the number of questions asked in the batch instead, which changes the weight of a
    batch but not the direction of its gradient.) Prediction: the number of levels above one half, which is the median.

    Example:
        >>> import torch
        >>> corn = Corn(num_classes=3)
        >>> corn.log_probs(torch.tensor([[0.8, 0.5]]).logit()).exp()
        tensor([[0.2000, 0.4000, 0.4000]])

    Reference: Shi, Cao, Raschka, "Deep neural networks for rank-consistent ordinal regression based on conditional
    probabilities", Pattern Analysis and Applications 2023 (2021).
    """

    decision = "median"

    @property
    def num_outputs(self) -> int:
        return self.num_classes - 1

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return -log_products(outputs).gather(-1, labels.unsqueeze(-1)).squeeze(-1)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return log_products(outputs)


CORN = MethodRecord(
    name="corn",
    title="conditional levels",
    family="levels",
    reference="Shi, Cao, Raschka 2021, Deep neural networks for rank-consistent ordinal regression",
    num_outputs="c-1",
    build=Corn,
)
