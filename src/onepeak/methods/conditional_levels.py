"""CORN, CONDOR and stick-breaking: each output is the share of what the classes before it left."""

from typing import final

from torch.nn import functional as F

from onepeak._core.tensors import Labels, LogProbs, Outputs, PerSample
from onepeak.methods.levels import LevelMethod, answers, log_products
from onepeak.methods.record import MethodRecord


@final
class Corn(LevelMethod):
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
    probabilities", 2021; Pattern Analysis and Applications 2023.
    """

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return log_products(outputs)


CORN = MethodRecord("corn", "conditional levels", "levels", num_outputs="c-1", build=Corn)


@final
class Condor(LevelMethod):
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

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        log_above = F.logsigmoid(outputs).cumsum(dim=-1)
        log_below = log_products(outputs)[..., :-1].logcumsumexp(dim=-1)  # log (1 - P), accurate near 0
        return -log_below.where(~answers(labels, self.num_outputs), log_above).sum(dim=-1)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return log_products(outputs)


CONDOR = MethodRecord("condor", "conditional levels, loss on their products", "levels", num_outputs="c-1", build=Condor)


@final
class StickBreaking(LevelMethod):
    r"""Output k is the logit of the share that class k takes of the remaining stick; the last class takes the rest.

    .. math:: p_k = \sigma(o_k) \prod_{j < k} (1 - \sigma(o_j)), \qquad \ell = -\log p_y

    The posteriors are those of `Corn` with the signs of the outputs reversed. Although the literature lists it among
    unimodal methods, it is **not** one-peaked by construction: it can represent any posterior.

    Example:
        >>> import torch
        >>> sticks = StickBreaking(num_classes=3)
        >>> sticks.log_probs(torch.tensor([[0.2, 0.5]]).logit()).exp()
        tensor([[0.2000, 0.4000, 0.4000]])

    Reference: Liu et al., "Ordinal regression with neuron stick-breaking for medical diagnosis", ECCV workshops 2018;
    "Unimodal regularized neuron stick-breaking for ordinal classification", Neurocomputing 2020.
    """

    decision = "mode"

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return log_products(-outputs)


STICK_BREAKING = MethodRecord(
    "stick-breaking", "stick-breaking", "distribution", num_outputs="c-1", build=StickBreaking
)
