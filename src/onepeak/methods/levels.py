"""Questions of the form "is the label above k?", asked for each of the c - 1 levels k, or only if it is at least k."""

from dataclasses import replace
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from onepeak._core.tensors import Labels, LogProbs, Outputs, PerSample, Scores, full_precision
from onepeak.methods.method import Method, SoftmaxMethod
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice

SMALLEST_DIFFERENCE = 1e-12
"""The class between two equal levels has probability 0. Their logits are set this far apart, so its log-probability is
finite. Adjacent classes of this kind remain tied."""


def answers(labels: Labels, num_levels: int) -> Tensor:
    """Whether each label is above each level, one row per sample.

    Example:
        >>> answers(torch.tensor([0, 2]), 3)
        tensor([[False, False, False],
                [ True,  True, False]])
    """
    return torch.arange(num_levels, device=labels.device) < labels.unsqueeze(-1)


def level_cross_entropy(level_logits: Outputs, labels: Labels) -> PerSample:
    """Binary cross-entropy, summed over the levels."""
    targets = answers(labels, level_logits.shape[-1]).to(level_logits.dtype)
    return F.binary_cross_entropy_with_logits(level_logits, targets, reduction="none").sum(dim=-1)


def log_differences(level_logits: Outputs) -> LogProbs:
    r"""The posterior from levels P(y > k), given as c - 1 logits: differences of adjacent levels, in log space.

    Levels that rise are replaced by their running minimum, which changes neither levels that already fall nor the first
    level below one half. For a >= b, :math:`\sigma(a) - \sigma(b) = \sigma(a) \, \sigma(-b) \, (1 - e^{b - a})`, which
    is accurate however close both are to 0 or 1.

    Example:
        >>> log_differences(torch.tensor([0.8, 0.5]).logit()).exp()
        tensor([0.2000, 0.3000, 0.5000])
    """
    falling = level_logits.cummin(dim=-1).values
    upper = F.pad(falling, (1, 0), value=torch.inf)
    lower = F.pad(falling, (0, 1), value=-torch.inf)
    step = (lower - upper).clamp(max=-SMALLEST_DIFFERENCE)
    return (F.logsigmoid(upper) + F.logsigmoid(-lower) + (-step.expm1()).log()).log_softmax(dim=-1)


def log_products(step_logits: Outputs) -> LogProbs:
    r"""The posterior from conditional levels P(y > k | y >= k), given as c - 1 logits.

    .. math:: \log p_k = \sum_{j < k} \log \sigma(o_j) + \log \sigma(-o_k)

    without the last term for the last class. It sums to one by construction.

    Example:
        >>> log_products(torch.tensor([0.8, 0.5]).logit()).exp()
        tensor([0.2000, 0.4000, 0.4000])
    """
    taken = F.pad(F.logsigmoid(step_logits).cumsum(dim=-1), (1, 0))
    return taken + F.pad(F.logsigmoid(-step_logits), (0, 1))


def accumulate(slopes: Outputs) -> Scores:
    """Class scores from their slopes: 0, then the cumulative sum."""
    return F.pad(slopes.cumsum(dim=-1), (1, 0))


class LevelMethod(Method):
    """A method with one output per level, whose prediction is the number of levels above one half, the median."""

    decision = "median"

    @property
    def num_outputs(self) -> int:
        return self.num_classes - 1


@final
class LevelQuestions(LevelMethod):
    r"""The network answers "is the label above k?" for each of the c - 1 levels.

    .. math:: \ell = -\sum_{k=0}^{c-2} \big( [y > k] \log \sigma(o_k) + [y \le k] \log \sigma(-o_k) \big), \qquad
              p_k = \sigma(o_{k-1}) - \sigma(o_k)

    Nothing makes the answers consistent: if levels rise, the posterior uses their running minimum, see
    `log_differences`. The sum is over the levels, each with weight 1 (Niu et al. can weight them by the number of
    samples). Prediction: the number of levels before the first "no", which is the median of the posterior (Niu et al.
    count every "yes", which is the same for consistent answers); or the mode, as in Frank and Hall.

    Args:
        decision: "median" or "mode".

    Example:
        >>> import torch
        >>> or_cnn = LevelQuestions(num_classes=3)
        >>> or_cnn.predict(torch.tensor([[2.0, -1.0]]))
        tensor([1])

    Reference: Niu et al., "Ordinal regression with multiple output CNN for age estimation", CVPR 2016; Frank, Hall, "A
    simple approach to ordinal classification", ECML 2001.
    """

    decision: str = choice("median", "mode")

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return level_cross_entropy(outputs, labels)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return log_differences(outputs)


OR_CNN = MethodRecord(
    "or-cnn",
    "one question per level, first answered no",
    "levels",
    num_outputs="c-1",
    build=LevelQuestions,
    fixed={"decision": "median"},
)

FRANK_HALL = replace(
    OR_CNN,
    name="frank-hall",
    title="one question per level, most probable class",
    reference='Frank, Hall, "A simple approach to ordinal classification", ECML 2001',
    year=2001,
    fixed={"decision": "mode"},
)


@final
class Coral(Method):
    r"""The questions "is the label above k?" share one score and differ only in their biases.

    .. math:: \ell = -\sum_{k=0}^{c-2} \big( [y > k] \log \sigma(o + b_k) + [y \le k] \log \sigma(-o - b_k) \big),
              \qquad p_k = \sigma(o + b_{k-1}) - \sigma(o + b_k)

    The biases are parameters of the method. They start at values from 1 down to 1 / (c - 1) and are trained with ten
    times the learning rate of the network (`own_rate`). They are not forced to be in order, but they are at the minimum
    of the loss (theorem 1 of the paper); until then the posterior uses the running minimum of the levels. The sum is
    over the levels. Prediction: the number of levels above one half, which is the median. Not one-peaked by
    construction.

    Example:
        >>> coral = Coral(num_classes=3)
        >>> coral.predict(torch.tensor([[-3.0], [-0.7], [3.0]]))
        tensor([0, 1, 2])

    Reference: Cao, Mirjalili, Raschka, "Rank consistent ordinal regression for neural networks with application to age
    estimation", Pattern Recognition Letters 2020.
    """

    decision = "median"
    own_rate = 10.0
    num_outputs = 1

    def setup(self) -> None:
        self.biases = nn.Parameter(torch.arange(self.num_classes - 1, 0, -1) / (self.num_classes - 1))

    def levels(self, outputs: Outputs) -> Tensor:
        """The logit of each level."""
        outputs = full_precision(outputs)
        return outputs + self.biases.to(outputs.dtype)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return level_cross_entropy(self.levels(outputs), labels)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return log_differences(self.levels(outputs))


CORAL = MethodRecord("coral", "levels with one score", "levels", num_outputs="1", build=Coral)


@final
class CodeWords(SoftmaxMethod):
    r"""The code word of class y is y ones and c - 1 - y zeros; the network's sigmoids should be close to it.

    .. math:: \ell = d_y^2, \qquad d_k^2 = \sum_{j=0}^{c-2} (\sigma(o_j) - [j < k])^2, \qquad
              p = \mathrm{softmax}(-d^2)

    The sum is over the levels. Prediction: the nearest code word, as in the paper, which is the mode of the posterior.
    The paper defines no posterior; the softmax is ours. Its scores accumulate slopes between -1 and 1, so it is never
    sharp.

    Example:
        >>> import torch
        >>> ecoc = CodeWords(num_classes=3)
        >>> ecoc.loss(torch.zeros(1, 2), torch.tensor([1]))
        tensor(0.5000)

    Reference: Barbero-Gómez, Gutiérrez, Hervás-Martínez, "Error-correcting output codes in the framework of deep
    ordinal classification", Neural Processing Letters 2022; Allwein, Schapire, Singer, "Reducing multiclass to
    binary", JMLR 2000.
    """

    @property
    def num_outputs(self) -> int:
        return self.num_classes - 1

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        code = answers(labels, self.num_outputs).to(outputs.dtype)
        return (outputs.sigmoid() - code).square().sum(dim=-1)

    def class_scores(self, outputs: Outputs) -> Scores:
        return accumulate(2 * outputs.sigmoid() - 1)


ECOC = MethodRecord("ecoc", "levels as code words", "levels", num_outputs="c-1", build=CodeWords)


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
