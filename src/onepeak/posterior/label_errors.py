"""Labels that are likely wrong: confident learning at every cut of the scale, ranked by distance on it."""

from dataclasses import dataclass

import torch

from onepeak._core.check import check_labels, check_log_probs
from onepeak._core.tensors import Labels, LogProbs, PerSample, PerSampleBool


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelErrors:
    """What out-of-fold posteriors say of the labels; see `likely_label_errors`."""

    likely: PerSampleBool
    """Whether the network is confident that the truth lies beyond some cut of the scale from the label."""
    suggested: Labels
    """The median of the posterior where a label is likely wrong, and the label itself elsewhere."""
    distance: PerSample
    """The mean distance of the truth from the label by the posterior, in classes."""

    @property
    def ranked(self) -> Labels:
        """The positions of the likely errors, the farthest from their label first."""
        order = self.distance.argsort(descending=True, stable=True)
        return order[self.likely[order]]


def likely_label_errors(log_probs: LogProbs, labels: Labels) -> LabelErrors:
    r"""Finds labels that are likely wrong, from posteriors of networks that were not trained on these samples.

    Confident learning asks whether a network is as sure of another class as it is, on average, of the samples that
    carry it. On a scale the question is asked at every cut :math:`k`: a label above it is likely wrong if
    :math:`P(y \le k) \ge t_k`, the mean of :math:`P(y \le k)` over the samples labelled at most :math:`k`, and if
    it is at least one half; a label below it likewise. A posterior that is torn between two neighbours far from the
    label is thus noticed too. What ranks the errors is the ordinal cost :math:`\sum_k p_k |k - y|`: a grade that is off
    by three comes before one that is off by one.

    Args:
        log_probs: Posteriors of held-out samples, samples x classes.
        labels: The labels that were given.

    Reference:
        Northcutt, Jiang and Chuang 2021, JAIR 70, at the cuts of Frank and Hall 2001, ECML.

    Example:
        >>> probs = torch.tensor([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.9, 0.05, 0.05]])
        >>> found = likely_label_errors(probs.log(), torch.tensor([0, 0, 2, 2]))
        >>> found.ranked, found.suggested[3]
        (tensor([3]), tensor(0))
    """
    check_log_probs(log_probs)
    num_classes = log_probs.shape[-1]
    check_labels(labels, num_classes, log_probs.shape[:-1])
    probs, labels = log_probs.double().exp(), labels.long()
    low = probs.cumsum(dim=-1)[..., :-1]  # samples x cuts
    labelled_low = labels.unsqueeze(-1) <= torch.arange(num_classes - 1)

    def confident(side: torch.Tensor, members: torch.Tensor) -> torch.Tensor:
        limits = (side * members).sum(dim=0) / members.sum(dim=0)  # NaN without members: never confident
        return side >= limits

    falls = ~labelled_low & (low >= 0.5) & confident(low, labelled_low)
    rises = labelled_low & (low < 0.5) & confident(1 - low, ~labelled_low)
    likely = (falls | rises).any(dim=-1)
    medians = (low < 0.5).sum(dim=-1)
    distances = (torch.arange(num_classes) - labels.unsqueeze(-1)).abs()
    return LabelErrors(
        likely=likely,
        suggested=medians.where(likely, labels),
        distance=(probs * distances).sum(dim=-1).to(log_probs.dtype),
    )
