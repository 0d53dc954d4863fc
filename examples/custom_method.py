"""Adds your own method to the catalog, for every command of onepeak.

python examples/custom_method.py compare biopsies --methods ce,expected-distance --out out/custom
python examples/custom_method.py methods
"""

import torch
from torch import Tensor

from onepeak.cli import main
from onepeak.methods.catalog import METHODS
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord


class ExpectedDistance(SoftmaxMethod):
    """The mean distance between the label and a class drawn from the posterior."""

    decision = "median"

    def sample_losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """The loss of each sample; the base class adds checks, weights and reduction."""
        classes = torch.arange(self.num_classes, device=outputs.device)
        distances = (classes - labels.unsqueeze(-1)).abs()
        return (outputs.softmax(dim=-1) * distances).sum(dim=-1)


METHODS.add(
    MethodRecord(
        name="expected-distance",
        title="expected distance",
        family="distance",
        reference="examples/custom_method.py",
        year=None,
        num_outputs="c",
        build=ExpectedDistance,
    )
)

if __name__ == "__main__":  # worker processes import this file too, which adds the method there
    main()
