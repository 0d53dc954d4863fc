"""CE: cross-entropy, which knows nothing of the order."""

from typing import final

from onepeak._shapes import Labels, LogProbs, Outputs, PerSample, Scores
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.method import Method


@final
class CrossEntropy(Method):
    r"""Softmax and cross-entropy.

    .. math:: \ell = -\log \mathrm{softmax}(s)_y

    Prediction: the mode. The published code does the same.

    Example:
        >>> import torch
        >>> ce = CrossEntropy(num_classes=2)
        >>> ce.loss(torch.tensor([[0.0, 0.0]]), torch.tensor([1]))
        tensor(0.6931)
    """

    @property
    def num_outputs(self) -> int:
        """One score a class."""
        return self.num_classes

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """Cross-entropy."""
        return cross_entropy(outputs, labels)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """Log-softmax."""
        return outputs.log_softmax(dim=-1)

    def class_scores(self, outputs: Outputs) -> Scores:
        """The outputs themselves."""
        return outputs
