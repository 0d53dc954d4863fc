"""Stick-breaking: each class takes its share of what those before it left (Liu et al. 2018)."""

from typing import final

from onepeak._shapes import Labels, LogProbs, Outputs, PerSample
from onepeak.methods.levels import log_products
from onepeak.methods.method import Method


@final
class StickBreaking(Method):
    r"""The k-th output is the share that class k breaks off the stick that is left, the last class takes the rest.

    .. math:: p_k = \sigma(o_k) \prod_{j < k} (1 - \sigma(o_j)), \qquad \ell = -\log p_y

    The same family of posteriors as `Corn`, whose questions are these with the sign turned; here the mode decides. In
    spite of its company in the literature it is **not** one-peaked by construction: any posterior can be broken so.
    Prediction: the mode.

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
        """One break a class but the last."""
        return self.num_classes - 1

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """Minus the log-probability of the label."""
        return -log_products(-outputs).gather(-1, labels.unsqueeze(-1)).squeeze(-1)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """The lengths of the pieces."""
        return log_products(-outputs)
