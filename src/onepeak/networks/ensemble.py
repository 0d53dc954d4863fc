"""Several networks as one, whose posterior is the mean of theirs."""

from collections.abc import Sequence

from torch import nn

from onepeak.methods.method import SoftmaxMethod
from onepeak.networks.head import MeanHead
from onepeak.networks.network import Network


def mean_of(members: Sequence[Network], *, one_peak: bool, backbone: nn.Module | None = None) -> Network:
    """Returns a network whose outputs are the mean log-probabilities of its members.

    Args:
        members: Networks for the same classes; behind a backbone that they share, without one of their own.
        one_peak: Whether the mean is projected to the nearest posterior with one peak.
        backbone: The backbone that they share.

    Example:
        >>> import onepeak, torch
        >>> parts = [Network(nn.Identity(), nn.Linear(4, 3), onepeak.method("ce", num_classes=3)) for _ in range(2)]
        >>> mean_of(parts, one_peak=True)(torch.zeros(5, 4)).shape
        torch.Size([5, 3])
    """
    method = SoftmaxMethod(members[0].method.num_classes)
    method.decision = members[0].method.decision
    return Network(backbone or nn.Identity(), MeanHead(members, one_peak=one_peak), method)
