"""What all methods share whose posterior is the softmax of one score a class."""

from onepeak._shapes import LogProbs, Outputs, Scores
from onepeak.methods.method import Method


class SoftmaxMethod(Method):
    """The outputs are class scores, their softmax the posterior: a subclass says its loss, and how it decides.

    One whose scores are made from the outputs says `num_outputs` and `class_scores` too. An order constraint can be put
    on any such method.
    """

    @property
    def num_outputs(self) -> int:
        """One score a class."""
        return self.num_classes

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """Log-softmax of the scores."""
        return self.class_scores(outputs).log_softmax(dim=-1)

    def class_scores(self, outputs: Outputs) -> Scores:
        """The outputs themselves."""
        return outputs
