"""Terms on features: what training asks of the layer before the outputs, beside the loss of any method.

Each compares the samples of a batch. They act in training only: posterior, prediction, export and serving are those of
the method without a term. They train in runs packed on one GPU as they do alone. With frozen features, where they would
do nothing, and with several processes, of which each sees its share of a batch only, they are refused.
"""

from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from onepeak._core.check import check_labels, check_number, check_scores
from onepeak._core.tensors import Labels, full_precision
from onepeak.errors import InputError
from onepeak.methods.method import Method, Wrapped

_TINY = 1e-12
"""Added to squared distances, whose root would otherwise have no gradient at 0."""


class FeatureTerm(nn.Module, ABC):
    """A loss of the features (samples x features) of a batch and its labels, one number; 0 if it compares nothing.

    It is added to the method's loss with a weight. It must not read a number from the device, so that training steps
    can be recorded.
    """

    def __init__(self, num_classes: int, *, weight: float = 0.1) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.weight = check_number("weight", weight, above=0)

    @abstractmethod
    def forward(self, features: Tensor, labels: Labels) -> Tensor:
        """The unweighted term. Features are float32 or float64, labels int64."""


@final
class RankNContrast(FeatureTerm):
    r"""Features of samples are the closer, the closer their labels are: each pair is compared with all wider ones.

    .. math:: -\frac1{N (N - 1)} \sum_{i \ne j} \log \frac{e^{-d_{ij} / \tau}}
              {\sum_{k \ne i \,:\, |y_i - y_k| \ge |y_i - y_j|} e^{-d_{ik} / \tau}}

    where d is the Euclidean distance of features. The paper takes two views of every sample and trains the backbone
    with this loss alone first; here it is a term beside the method's loss, on one view. Memory grows with the cube of
    the batch.

    Args:
        weight: Weight of the term.
        temperature: :math:`\tau`.

    Example:
        >>> rnc = RankNContrast(num_classes=3, temperature=1.0)
        >>> rnc(torch.zeros(2, 4), torch.tensor([0, 1]))  # one pair alone has nothing to be compared with
        tensor(0.)

    Reference: Zha et al., "Rank-N-Contrast: learning continuous representations for regression", NeurIPS 2023.
    """

    def __init__(self, num_classes: int, *, weight: float = 0.1, temperature: float = 2.0) -> None:
        super().__init__(num_classes, weight=weight)
        self.temperature = check_number("temperature", temperature, above=0)

    def forward(self, features: Tensor, labels: Labels) -> Tensor:
        apart = (labels.unsqueeze(-1) - labels).abs()
        similar = -_distances(features, features) / self.temperature
        others = ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
        wider = (apart.unsqueeze(1) >= apart.unsqueeze(2)) & others.unsqueeze(1)  # axes: anchor, pair, compared
        # A sample is no pair with itself: what would be compared then is irrelevant, but must not be empty.
        compared = similar.unsqueeze(1).masked_fill(~wider & others.unsqueeze(2), -torch.inf).logsumexp(dim=-1)
        return torch.where(others, compared - similar, 0).sum() / max(1, len(labels) * (len(labels) - 1))


@final
class OrdinalEntropy(FeatureTerm):
    r"""Directions of classes spread out, the more so the farther apart they are, and samples gather at their class.

    .. math:: -\frac1P \sum_{k < l} \frac{|k - l|}{c - 1} \| z_k - z_l \| + \frac1N \sum_i \| z_i - z_{y_i} \|^2

    where features z have length 1, the centre of a class in the batch is the direction of the mean of its samples, and
    P is the number of pairs of classes in the batch. It is below zero where classes are apart. (The authors take the
    distance of labels relative to the longest in the batch.)

    Args:
        weight: Weight of the term.

    Example:
        >>> opposite = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
        >>> round(OrdinalEntropy(num_classes=2)(opposite, torch.tensor([0, 1])).item(), 4)
        -2.0

    Reference: Zhang et al., "Improving deep regression with ordinal entropy", ICLR 2023.
    """

    def forward(self, features: Tensor, labels: Labels) -> Tensor:
        directions = F.normalize(features, dim=-1)
        classes = torch.arange(self.num_classes, device=labels.device)
        members = (classes.unsqueeze(-1) == labels).to(directions.dtype)
        centres = F.normalize((members.unsqueeze(-1) * directions).sum(dim=1), dim=-1)
        occurs = members.amax(dim=-1)
        pairs = (occurs.unsqueeze(-1) * occurs).triu(diagonal=1)
        apart = (classes.unsqueeze(-1) - classes).abs() / (self.num_classes - 1)
        spread = (pairs * apart * _distances(centres, centres)).sum() / pairs.sum().clamp(min=1)
        return (directions - centres[labels]).square().sum(dim=-1).mean() - spread


@final
class Cloc(FeatureTerm):
    r"""Samples of one class are more similar than those of two, by a margin that grows with the distance of the two.

    .. math:: \frac1{|T|} \sum_{(i, j, k) \in T} \max \big( 0, \cos_{ik} - \cos_{ij} + m |y_i - y_k| \big), \qquad
              T = \{ i \ne j, \; y_i = y_j \ne y_k \}

    The authors can learn a margin for every pair of neighbours; here it is one setting. Beyond two classes apart, a
    margin of 1 cannot be met by any features and only pulls. Memory grows with the cube of the batch.

    Args:
        weight: Weight of the term.
        margin: m, per class of distance.

    Example:
        >>> Cloc(num_classes=3, margin=0.25)(torch.ones(3, 4), torch.tensor([0, 0, 2]))  # all alike: the margin itself
        tensor(0.5000)

    Reference: Pitawela, Carneiro, Chen, "CLOC: contrastive learning for ordinal classification with multi-margin
    n-pair loss", CVPR 2025.
    """

    def __init__(self, num_classes: int, *, weight: float = 0.1, margin: float = 0.5) -> None:
        super().__init__(num_classes, weight=weight)
        self.margin = check_number("margin", margin, minimum=0)

    def forward(self, features: Tensor, labels: Labels) -> Tensor:
        directions = F.normalize(features, dim=-1)
        cosines = (directions.unsqueeze(1) * directions).sum(dim=-1)  # no matrix product, which autocast would round
        apart = (labels.unsqueeze(-1) - labels).abs()
        alike = (apart == 0) & ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
        triples = (alike.unsqueeze(2) & (apart > 0).unsqueeze(1)).to(cosines.dtype)  # axes: anchor, alike, other
        hinges = (cosines.unsqueeze(1) - cosines.unsqueeze(2) + self.margin * apart.unsqueeze(1)).relu()
        return (triples * hinges).sum() / triples.sum().clamp(min=1)


def _distances(ones: Tensor, others: Tensor) -> Tensor:
    return ((ones.unsqueeze(1) - others).square().sum(dim=-1) + _TINY).sqrt()


@final
class WithFeatureTerm(Wrapped):
    r"""A base method with a term on features in training: :math:`\ell_{base} + w \, \ell_{term}`."""

    asks_features = True

    def __init__(self, base: Method, term: FeatureTerm) -> None:
        super().__init__(base)
        if not isinstance(term, FeatureTerm):
            raise InputError(f"`term` must be a RankNContrast or the like, got {type(term).__name__}.")
        self.term = term

    def feature_loss(self, features: Tensor, labels: Labels) -> Tensor:
        check_scores(features, None, name="features")
        check_labels(labels, self.num_classes, features.shape[:-1])
        if not features.requires_grad:
            raise InputError(
                "A term on features must have layers to train before them: features are frozen, or are the columns "
                f"themselves. Leave out the term ({type(self.term).__name__})."
            )
        own: Tensor = self.term(full_precision(features), labels.long())
        return self.base.feature_loss(features, labels) + self.term.weight * own
