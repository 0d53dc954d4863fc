"""What all methods share whose outputs are one score a class and whose posterior is their softmax."""

from onepeak._shapes import LogProbs, Outputs, Scores
from onepeak.methods.method import Method


class SoftmaxMethod(Method):
    """One output a class, softmax of them as the posterior: a subclass says its loss, and a decision if not the mode.

    The outputs are class scores, so any order constraint can be put on such a method.
    """

    @property
    def num_outputs(self) -> int:
        """One score a class."""
        return self.num_classes

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """Log-softmax."""
        return outputs.log_softmax(dim=-1)

    def class_scores(self, outputs: Outputs) -> Scores:
        """The outputs themselves."""
        return outputs
