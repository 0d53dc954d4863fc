"""A running average of a network's weights, updated in few operations and without a device-to-host sync.

`torch.optim.swa_utils.AveragedModel` reads a counter from the device at every step. That prevents CUDA graph capture
and takes longer than a step of a small network.
"""

import copy
from typing import final

import torch

from onepeak.networks.network import Network


@final
class RunningAverage:
    r"""An exponential moving average of a network, from its initial weights on: :math:`a \leftarrow d a + (1 - d) w`.

    Args:
        network: The network to follow, already on its final device.
        decay: d, for weights and batch-norm statistics; tensors that are not floating-point are copied.
    """

    def __init__(self, network: Network, decay: float) -> None:
        self.network = copy.deepcopy(network).requires_grad_(requires_grad=False)
        self.decay = decay
        states = (each.state_dict(keep_vars=True).values() for each in (network, self.network))
        pairs = [
            (averaged, own) for own, averaged in dict(zip(*states, strict=True)).items()
        ]  # tied weights appear once
        self._real = [pair for pair in pairs if pair[0].is_floating_point()]
        self._counts = [pair for pair in pairs if not pair[0].is_floating_point()]

    @torch.no_grad()
    def follow(self) -> None:
        """Updates the average after a step of the network."""
        averaged, own = _lists(self._real)
        torch._foreach_lerp_(averaged, own, 1 - self.decay)
        if self._counts:
            torch._foreach_copy_(*_lists(self._counts))


def _lists(pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    return [averaged for averaged, _ in pairs], [own for _, own in pairs]
