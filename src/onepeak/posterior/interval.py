"""Properties of intervals of labels: coverage, size, and the price of having no gaps."""

import torch

from onepeak._shapes import Intervals, Labels, LogProbs, PerSampleBool
from onepeak.posterior._check import check_class_scores


def covers(intervals: Intervals, labels: Labels) -> PerSampleBool:
    """Whether each interval contains its label.

    Example:
        >>> covers(torch.tensor([[0, 2], [1, 1]]), torch.tensor([2, 0]))
        tensor([ True, False])
    """
    return (intervals[..., 0] <= labels) & (labels <= intervals[..., 1])


def sizes(intervals: Intervals) -> Labels:
    """The number of labels in each interval.

    Example:
        >>> sizes(torch.tensor([[0, 2], [1, 1]]))
        tensor([3, 1])
    """
    return intervals[..., 1] - intervals[..., 0] + 1


def widened(intervals: Intervals, labels: Labels) -> Intervals:
    """The intervals, each extended just enough to contain its label.

    Example:
        >>> widened(torch.tensor([[0, 2], [1, 1]]), torch.tensor([1, 3]))
        tensor([[0, 2],
                [1, 3]])
    """
    lower, upper = intervals.unbind(dim=-1)
    return torch.stack([torch.minimum(lower, labels), torch.maximum(upper, labels)], dim=-1)


def price_of_contiguity(log_probs: LogProbs, intervals: Intervals) -> Labels:
    """How many labels each interval could save at the same probability if gaps were allowed.

    It is 0 for posteriors with one peak.

    Example:
        >>> price_of_contiguity(torch.tensor([0.5, 0.05, 0.1, 0.35]).log(), torch.tensor([0, 3]))
        tensor(0)
        >>> price_of_contiguity(torch.tensor([0.5, 0.0, 0.1, 0.4]).log(), torch.tensor([0, 3]))
        tensor(1)
    """
    check_class_scores(log_probs, name="log_probs")
    probs = log_probs.double().exp()
    labels = torch.arange(log_probs.shape[-1], device=log_probs.device)
    inside = (intervals[..., :1] <= labels) & (labels <= intervals[..., 1:])
    mass = (probs * inside).sum(dim=-1, keepdim=True)
    largest_first = probs.sort(dim=-1, descending=True).values.cumsum(dim=-1)
    slack = 1e-12  # the two sums add the same values in a different order
    fewest = (largest_first < mass - slack).sum(dim=-1) + 1
    return sizes(intervals) - torch.minimum(fewest, sizes(intervals))
