"""A running average of a network's weights, which follows it in few operations and without a look at the device.

`torch.optim.swa_utils.AveragedModel` asks the device at every step whether it is the first, so that no graph can record
it, and takes longer than the step of a small network.
"""

import copy
from typing import final

import torch

from onepeak.networks.network import Network


@final
class RunningAverage:
    r"""A copy of a network that follows it slowly, from its first weights on: :math:`a \leftarrow d a + (1 - d) w`.

    Args:
        network: What to follow, where it is to stay.
        decay: d, for weights and batch-norm statistics alike; what is no real number is copied.
    """

    def __init__(self, network: Network, decay: float) -> None:
        self.network = copy.deepcopy(network).requires_grad_(requires_grad=False)
        self.decay = decay
        states = (each.state_dict(keep_vars=True).values() for each in (network, self.network))
        pairs = [(averaged, own) for own, averaged in dict(zip(*states, strict=True)).items()]  # tied weights once
        self._real = [pair for pair in pairs if pair[0].is_floating_point()]
        self._counts = [pair for pair in pairs if not pair[0].is_floating_point()]

    @torch.no_grad()
    def follow(self) -> None:
        """One step behind the network."""
        averaged, own = _lists(self._real)
        torch._foreach_lerp_(averaged, own, 1 - self.decay)
        if self._counts:
            torch._foreach_copy_(*_lists(self._counts))


def _lists(pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    return [averaged for averaged, _ in pairs], [own for _, own in pairs]
