"""Questions of the form "is the label above k?", asked for each of the c - 1 levels k."""

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._shapes import Labels, LogProbs, Outputs, PerSample

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
    """Binary cross-entropy, summed over the levels.

    Example:
        >>> level_cross_entropy(torch.zeros(1, 2), torch.tensor([1]))
        tensor([1.3863])
    """
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
