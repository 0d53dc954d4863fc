"""SE and EAE: the squared error of the posterior's mean (Beckham & Pal 2016), and its expected absolute error."""

from typing import final

from onepeak._core.tensors import Labels, Outputs, PerSample, Scores
from onepeak.methods.method import SoftmaxMethod, offsets_from
from onepeak.methods.record import MethodRecord
from onepeak.posterior.decide import expected_label


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


SE = MethodRecord(
    name="se",
    title="squared error of the mean",
    family="distance",
    reference="Beckham, Pal 2016, A simple squared-error reformulation for ordinal classification",
    build=ExpectedError,
)

EAE = MethodRecord(
    name="eae",
    title="expected absolute error",
    family="distance",
    reference="Rennie, Srebro 2005, Loss functions for preference levels",
    build=ExpectedAbsoluteError,
)
