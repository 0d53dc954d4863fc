"""Stick-breaking: each class takes a share of what the classes before it left (Liu et al. 2018)."""

from typing import final

from onepeak._core.tensors import Labels, LogProbs, Outputs, PerSample
from onepeak.methods.levels import log_products
from onepeak.methods.method import Method
from onepeak.methods.record import MethodRecord


@final
class StickBreaking(Method):
    r"""Output k is the logit of the share that class k takes of the remaining stick; the last class takes the rest.

    .. math:: p_k = \sigma(o_k) \prod_{j < k} (1 - \sigma(o_j)), \qquad \ell = -\log p_y

    The posteriors are those of `Corn` with the signs of the outputs reversed. Although the literature lists it among
    unimodal methods, it is **not** one-peaked by construction: it can represent any posterior.

    Example:
        >>> import torch
        >>> sticks = StickBreaking(num_classes=3)
        >>> sticks.log_probs(torch.tensor([[0.2, 0.5]]).logit()).exp()
        tensor([[0.2000, 0.4000, 0.4000]])

    Reference: Liu et al., "Ordinal regression with neuron stick-breaking for medical diagnosis", ECCV workshops 2018;
    "Unimodal regularized neuron stick-breaking for ordinal classification", Neurocomputing 2020.
    """

    @property
    def num_outputs(self) -> int:
        return self.num_classes - 1

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return -log_products(-outputs).gather(-1, labels.unsqueeze(-1)).squeeze(-1)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return log_products(-outputs)


STICK_BREAKING = MethodRecord(
    name="stick-breaking",
    title="stick-breaking",
    family="distribution",
    reference="Liu et al. 2018, Ordinal regression with neuron stick-breaking for medical diagnosis",
    num_outputs="c-1",
    build=StickBreaking,
)
