"""The base class of methods whose posterior is the softmax of one score per class."""

from onepeak._shapes import LogProbs, Outputs, Scores
from onepeak.methods.method import Method


class SoftmaxMethod(Method):
    """The outputs are class scores and their softmax is the posterior. A subclass defines its loss and its decision.

    A subclass that computes its scores from the outputs also defines `num_outputs` and `class_scores`. All such methods
    accept an order constraint.
    """

    @property
    def num_outputs(self) -> int:
        """One score per class."""
        return self.num_classes

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """Log-softmax of the scores."""
        return self.class_scores(outputs).log_softmax(dim=-1)

    def class_scores(self, outputs: Outputs) -> Scores:
        """The outputs themselves."""
        return outputs
