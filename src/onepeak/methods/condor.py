"""CONDOR: conditional outputs with a loss on their products, the levels (Jenkinson et al. 2022)."""

from typing import final

from torch.nn import functional as F

from onepeak._core.tensors import Labels, LogProbs, Outputs, PerSample
from onepeak.methods.levels import answers, log_products
from onepeak.methods.method import Method
from onepeak.methods.record import MethodRecord


@final
class Condor(Method):
    r"""The network outputs conditional probabilities as in `Corn`; the loss is on their products, the levels.

    .. math:: \ell = -\sum_{k=0}^{c-2} \big( [y > k] \log P_k + [y \le k] \log (1 - P_k) \big), \qquad
              P_k = P(y > k) = \prod_{j \le k} \sigma(o_j)

    Levels fall by construction. The sum is over the levels. Prediction: the number of levels above one half, which is
    the median.

    Example:
        >>> import torch
        >>> condor = Condor(num_classes=3)
        >>> condor.loss(torch.tensor([[0.8, 0.5]]).logit(), torch.tensor([1]))  # -log .8 - log (1 - .4)
        tensor(0.7340)

    Reference: Jenkinson, Khezeli, Oliver, Kalantari, Klee, "Universally rank consistent ordinal regression in neural
    networks", 2021.
    """

    decision = "median"

    @property
    def num_outputs(self) -> int:
        return self.num_classes - 1

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        log_above = F.logsigmoid(outputs).cumsum(dim=-1)
        log_below = log_products(outputs)[..., :-1].logcumsumexp(dim=-1)  # log (1 - P), accurate near 0
        return -log_below.where(~answers(labels, self.num_outputs), log_above).sum(dim=-1)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return log_products(outputs)


CONDOR = MethodRecord(
    name="condor",
    title="conditional levels, loss on their products",
    family="levels",
    reference="Jenkinson et al. 2021, Universally rank consistent ordinal regression in neural networks",
    num_outputs="c-1",
    build=Condor,
)
