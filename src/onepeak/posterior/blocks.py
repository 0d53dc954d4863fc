"""Gradients through the blocks of classes that an isotonic fit makes equal."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._shapes import LogProbs
from onepeak.posterior.scan import NO_PROBABILITY, scan


def with_block_gradient(log_probs: LogProbs, fitted: LogProbs, starts: Tensor) -> LogProbs:
    r"""The fitted values as a differentiable function of the log-probabilities.

    The value of a block B is :math:`\log \frac1{|B|} \sum_{i \in B} e^{x_i}`, whose derivative by :math:`x_i` is the
    share of i in the probability of the block. The gradient ignores the breaking of ties.

    Args:
        log_probs: The input of the fit.
        fitted: The fit, computed without gradient.
        starts: Whether a block starts at each class.

    Example:
        >>> x = torch.tensor([0.1, 0.3, 0.6]).log().requires_grad_()
        >>> fit = with_block_gradient(x, torch.tensor([0.2, 0.2, 0.6]).log(), torch.tensor([True, False, True]))
        >>> torch.autograd.grad(fit[0], x)
        (tensor([0.2500, 0.7500, 0.0000]),)
    """
    values = log_probs.clamp(min=NO_PROBABILITY)
    highest = over_blocks(values.detach(), starts, torch.maximum)
    log_sums = over_blocks((values - highest).exp(), starts, torch.add).log()
    return fitted + (log_sums - log_sums.detach())  # adds zero, with a gradient


def over_blocks(values: Tensor, starts: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """For each class, the combination of all values of its block.

    The order of operations is fixed, unlike that of a scatter on a GPU, so results are reproducible.

    Example:
        >>> over_blocks(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True]), torch.add)
        tensor([3., 3., 4.])
    """
    num_classes = values.shape[-1]
    place = torch.arange(num_classes, device=values.device)
    first = scan(torch.where(starts, place, 0), torch.maximum)
    stops = F.pad(starts[..., 1:], (0, 1), value=True)
    last = scan(torch.where(stops, place, num_classes).flip(-1), torch.minimum).flip(-1)
    reach = 1
    while reach < num_classes:
        further = F.pad(values[..., :-reach], (reach, 0))
        values = torch.where(place - reach >= first, combine(values, further), values)
        reach *= 2
    return values.gather(-1, last)
