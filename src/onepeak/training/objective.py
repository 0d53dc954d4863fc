"""The objective that training minimises."""

from typing import final

from torch import Tensor, nn

from onepeak.networks.network import Network
from onepeak.training.evaluate import loss_or_nan


@final
class Objective(nn.Module):
    """Network and loss in one module, so that DistributedDataParallel sees every parameter, including the method's.

    Args:
        network: The network with its method.
    """

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor, labels: Tensor, total_weight: float | None) -> Tensor:
        """Returns the mean loss of a batch; with a total weight, the sum divided by it."""
        outputs = self.network(inputs)
        if total_weight is None:
            return loss_or_nan(self.network.method, outputs, labels, reduction="mean")
        return loss_or_nan(self.network.method, outputs, labels, reduction="sum") / total_weight
