"""Each class costs by its distance from the label: CDW-CE, OLL, CS-CE, EAE, SLACE; and SE, the error of the mean."""

from dataclasses import replace
from functools import partial
from typing import final

import torch
from torch import Tensor

from onepeak._core.check import readable
from onepeak._core.tensors import Labels, LogProbs, Outputs, PerSample, Scores
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.kernels.analytic import by_autograd, mean_in_pieces
from onepeak.methods.method import SoftmaxMethod, offsets_from
from onepeak.methods.precision import ExactTable, offsets
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import number
from onepeak.posterior.decide import expected_label


@final
class ClassDistance(SoftmaxMethod):
    r"""Minus the log-probability of *not* choosing each class, weighted by a power of its distance from the label.

    .. math:: \ell = -\sum_{k=0}^{c-1} |k - y|^\alpha \log (1 - p_k), \qquad p = \mathrm{softmax}(o)

    The label's own probability enters only through the others. Class distance weighted cross-entropy and the ordinal
    log loss are the same formula with different powers. The sum over classes is not normalised, so many classes with a
    high power give very large losses: lower the power or the learning rate. With power 5 and 70 classes, gradients
    exceed the range of float16 (65,504), and a gradient scaler skips about twenty steps until they fit; bfloat16 has
    enough range.

    With a margin, a class whose probability stays within it costs nothing:
    :math:`\log \min(1, 1 - p_k + m)` in place of the logarithm, as in dlordinal. The loss is then bounded, and its
    gradient is zero where the order is fulfilled.

    Args:
        power: :math:`\alpha`. The ordinal log loss has 1.5, which its authors recommend.
        margin: m, at least 0.

    Example:
        >>> cdw = ClassDistance(num_classes=3, power=1.0)
        >>> cdw.loss(torch.zeros(1, 3), torch.tensor([0]))  # -(1 + 2) log(2/3)
        tensor(1.2164)

    Reference: Polat et al., "Class distance weighted cross-entropy loss for ulcerative colitis severity estimation",
    MIUA 2022; Castagnos, Mihelich, Dognin, "A simple log-based loss function for ordinal text classification",
    COLING 2022.
    """

    power: float = number(5.0, above=0)
    margin: float = number(0.0, minimum=0, below=1)

    def setup(self) -> None:
        self._costs = ExactTable(offsets(self.num_classes).abs() ** self.power)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        log_rest = log_of_the_rest(outputs)
        if self.margin:
            log_rest = (log_rest.exp() + self.margin).clamp(max=1).log()
        return -(self._costs.offsets(labels, outputs.dtype) * log_rest).sum(dim=-1)

    def mean_loss(self, outputs: Outputs, labels: Labels) -> Tensor:
        """The mean over samples; on a CPU with its gradient, unless there is a margin."""
        if self.margin or not len(outputs) or not readable(outputs):
            return super().mean_loss(outputs, labels)
        return mean_in_pieces(outputs, labels, self._piece, self.sample_losses)

    def _piece(self, outputs: Outputs, labels: Labels, out: Tensor | None) -> tuple[Tensor, Tensor]:
        """With the probabilities of all but the highest class, h, relative to it, whose own are summed to 1 - p_h.

        The gradient is u - p sum(u), where u is the cost of a class times its odds p / (1 - p).
        """
        highest, at = outputs.max(dim=-1, keepdim=True)
        p = torch.sub(outputs, highest, out=out).exp_().scatter_(-1, at, 0)
        rest = p.sum(dim=-1, keepdim=True)
        if not rest.amin().item() > 1e-30:  # so sure of one class that the others are lost: in log space
            return by_autograd(self.sample_losses, outputs, labels, out)
        total = rest + 1
        p /= total
        costs = self._costs.offsets(labels, outputs.dtype)
        cost = costs.gather(-1, at)
        q = 1 - p
        logs = (1 - q).sub_(p).div_(q).add_(q.log())  # log (1 - p) with what rounding takes from q; log1p is slow
        loss = (total / rest).log_().mul_(cost).sum() - logs.mul_(costs).sum()
        u = costs.mul_(p).div_(q)  # 0 at h, whose own is cost / rest
        others = u.sum(dim=-1, keepdim=True)
        gradient = torch.addcmul(u, p, others + cost / rest, value=-1, out=p)
        return loss / max(1, len(outputs)), gradient.scatter_(-1, at, (cost - others) / total)


def log_of_the_rest(scores: Scores) -> LogProbs:
    """Log (1 - p) of each class.

    For the most probable class, p may be so close to 1 that 1 - p rounds to 0, so the others are summed in log space.
    """
    highest = torch.arange(scores.shape[-1], device=scores.device) == scores.argmax(dim=-1, keepdim=True)
    rest_of_highest = scores.masked_fill(highest, -torch.inf).logsumexp(dim=-1) - scores.logsumexp(dim=-1)
    others = scores.softmax(dim=-1).masked_fill(highest, 0)
    return torch.where(highest, rest_of_highest.unsqueeze(-1), torch.log1p(-others))


CDW_CE = MethodRecord("cdw-ce", "class distance weighted cross-entropy", "distance", build=ClassDistance)

OLL = replace(
    CDW_CE,
    name="oll",
    title="ordinal log loss",
    reference='Castagnos, Mihelich, Dognin, "A simple log-based loss function for ordinal text classification", 2022',
    build=partial(ClassDistance, power=1.5),
)


@final
class CostSensitive(SoftmaxMethod):
    r"""Cross-entropy plus the cost that a class drawn from the posterior has on average.

    .. math:: \ell = -\log p_y + \lambda \sum_{k=0}^{c-1} \Big( \frac{|k - y|}{c - 1} \Big)^\alpha p_k, \qquad
              p = \mathrm{softmax}(o)

    Costs lie between 0 and 1, so that the weight means the same for any number of classes. The authors found the cost
    alone to stick at one class for all samples; the cross-entropy prevents that.

    Args:
        weight: :math:`\lambda`.
        power: :math:`\alpha`.

    Example:
        >>> cs = CostSensitive(num_classes=3, weight=1.0)
        >>> cs.loss(torch.zeros(1, 3), torch.tensor([0]))  # log 3 + (0 + 1/4 + 1) / 3
        tensor(1.5153)

    Reference: Galdran, Dolz, Chakor, Lombaert, Ben Ayed, "Cost-sensitive regularization for diabetic retinopathy
    grading from eye fundus images", MICCAI 2020.
    """

    weight: float = number(10.0, minimum=0)
    power: float = number(2.0, above=0)

    def setup(self) -> None:
        self._costs = ExactTable((offsets(self.num_classes).abs() / (self.num_classes - 1)) ** self.power)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        costs = self._costs.offsets(labels, outputs.dtype)
        return cross_entropy(outputs, labels) + self.weight * (costs * outputs.softmax(dim=-1)).sum(dim=-1)


CS_CE = MethodRecord("cs-ce", "cost-sensitive cross-entropy", "distance", build=CostSensitive)


@final
class ExpectedError(SoftmaxMethod):
    r"""The squared distance between the posterior's mean and the label.

    .. math:: \ell = (m - y)^2, \qquad m = \sum_{k=0}^{c-1} k \, \mathrm{softmax}(o)_k

    This is regression with a posterior: all distributions with the right mean are equally good, so nothing makes the
    posterior narrow or one-peaked. Prediction: the mean, rounded. This is the paper's variant with the class numbers as
    fixed weights; another variant learns the weights.

    Example:
        >>> se = ExpectedError(num_classes=3)
        >>> se.loss(torch.zeros(1, 3), torch.tensor([2]))
        tensor(1.)

    Reference: Beckham, Pal, "A simple squared-error reformulation for ordinal classification", 2016.
    """

    decision = "mean"

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return (expected_label(outputs) - labels).square()


@final
class ExpectedAbsoluteError(SoftmaxMethod):
    r"""The mean distance between the label and a class drawn from the posterior.

    .. math:: \ell = \sum_{k=0}^{c-1} p_k |k - y|, \qquad p = \mathrm{softmax}(o)

    This is the cost of moving the posterior to the label, the metric `emd`. It is linear in the probabilities, so that
    nothing is gained by an honest doubt: the best posterior lies on the median alone. Prediction: the median.

    Example:
        >>> ExpectedAbsoluteError(num_classes=3).loss(torch.zeros(1, 3), torch.tensor([0]))
        tensor(1.)

    Reference: Rennie, Srebro, "Loss functions for preference levels", 2005; as optimal transport on ordered labels,
    Shaham, Zaidman, Svirsky, "Deep ordinal regression using optimal transport loss", 2020.
    """

    decision = "median"

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return expected_distance(outputs, labels)


def expected_distance(scores: Scores, labels: Labels, power: float = 1.0) -> PerSample:
    """The mean power of the distance between the label and a class drawn from the softmax of the scores."""
    distances = offsets_from(labels, scores.shape[-1]).abs()
    return (scores.softmax(dim=-1) * distances.to(scores.dtype) ** power).sum(dim=-1)


SE = MethodRecord("se", "squared error of the mean", "distance", build=ExpectedError)

EAE = MethodRecord("eae", "expected absolute error", "distance", build=ExpectedAbsoluteError)


@final
class Slace(SoftmaxMethod):
    r"""Cross-entropy of a soft label with the probability of all classes at least as close to the label.

    .. math:: \ell = -\sum_{k=0}^{c-1} q_k \log \sum_{j \,:\, |j - y| \le |k - y|} p_j, \qquad
              q_k \propto e^{-\alpha |k - y|}, \qquad p = \mathrm{softmax}(o)

    The loss is monotone: moving probability towards the label never increases it, and it is 0 if the label has all the
    probability. The sum over classes is weighted by a distribution, so it needs no normaliser. It is computed in log
    space, where the authors' code adds 1e-9 to the sums.

    Args:
        sharpness: :math:`\alpha` of the soft label.

    Example:
        >>> slace = Slace(num_classes=2, sharpness=1.0)
        >>> slace.loss(torch.zeros(1, 2), torch.tensor([0]))  # log(2) / (1 + 1/e)
        tensor(0.5067)

    Reference: Nachmani, Genossar, Shraga, Gal, "SLACE: a monotone and balance-sensitive loss function for ordinal
    regression", AAAI 2025.
    """

    sharpness: float = number(1.0, above=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        place = labels.unsqueeze(-1)
        distances = offsets_from(labels, self.num_classes).abs()
        nearest_first = distances.argsort(dim=-1, stable=True)
        gathered = outputs.log_softmax(dim=-1).gather(-1, nearest_first).logcumsumexp(dim=-1)
        # the number of other classes at most as far as each: those below the label plus those above it
        no_farther = distances.minimum(place) + distances.minimum(self.num_classes - 1 - place)
        soft_label = (-self.sharpness * distances.to(outputs.dtype)).softmax(dim=-1)
        return -(soft_label * gathered.gather(-1, no_farther)).sum(dim=-1)


SLACE = MethodRecord("slace", "soft labels, accumulated", "distance", build=Slace)
