"""REN: the label re-encoded as a staircase of binary levels (Cheng et al. 2008)."""

from typing import final

import torch
from torch.nn import functional as F

from onepeak._core.check import check_class_scores
from onepeak._core.tensors import Labels, LogProbs, Outputs, PerSample, Scores
from onepeak.errors import InputError
from onepeak.methods.levels import accumulate, log_differences
from onepeak.methods.method import SoftmaxMethod, Variant
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice
from onepeak.posterior import mode


@final
class Reencode(SoftmaxMethod):
    r"""One sigmoid per class, which answers "is the label at least k?".

    .. math:: \ell = \sum_{k=0}^{c-1} (\sigma(o_k) - [k \le y])^2

    The sum is over the c levels; the true answer to the first question is always yes. The outputs define one of two
    posteriors:

    - "levels": the probability of class k is level k minus level k + 1. Levels that rise are replaced by their running
      minimum, which changes neither the prediction nor levels that already fall. Prediction: the class before the first
      level below one half, which is the median of this posterior (the upper one if a level equals one half).
    - "slopes": o_k is the slope of the class scores between k - 1 and k, see `Slopes`. Prediction: the mode.

    `as_published` differs in the posterior: the published code computes the order index on the sigmoids themselves,
    which are levels, not a posterior. Here they are normalised, which keeps their order. The published prediction also
    uses the first level: if the network answers no there, it is the first class, whatever the other levels are.

    Args:
        posterior: "levels" or "slopes".
        variant: "corrected" or "as_published" (levels only).

    Example:
        >>> ren = Reencode(num_classes=3)
        >>> ren.predict(torch.tensor([[9.0, 2.0, -1.0]]))
        tensor([1])

    Reference: Cheng, Wang, Pollastri, "A neural network approach to ordinal regression", IJCNN 2008, eq. 3.
    """

    posterior: str = choice("levels", "slopes")
    variant: Variant = choice("corrected", "as_published")

    def setup(self) -> None:
        if self.posterior == "slopes" and self.variant == "as_published":
            raise InputError("`posterior` must be 'levels' with variant='as_published', got 'slopes'.")
        self.decision = "median" if self.posterior == "levels" else "mode"

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        code = torch.arange(self.num_classes, device=labels.device) <= labels.unsqueeze(-1)
        return (outputs.sigmoid() - code.to(outputs.dtype)).square().sum(dim=-1)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        if self.variant == "as_published":
            return F.logsigmoid(outputs).log_softmax(dim=-1)
        if self.posterior == "slopes":
            return accumulate(outputs[..., 1:]).log_softmax(dim=-1)
        return log_differences(outputs[..., 1:])

    def class_scores(self, outputs: Outputs) -> Scores:
        """The accumulated slopes; levels have no class scores."""
        if self.posterior == "levels":
            raise InputError("`ren` read as levels has no class scores to constrain: use posterior='slopes'.")
        return accumulate(outputs[..., 1:])

    def predict(self, outputs: Outputs) -> Labels:
        """The class before the first level below one half; for slopes, the mode."""
        check_class_scores(outputs, self.num_outputs, name="outputs")
        if self.posterior == "slopes":
            return mode(self.log_probs(outputs))
        if self.variant == "as_published":  # also uses the first level, whose answer is known
            return ((outputs.cummin(dim=-1).values >= 0).sum(dim=-1) - 1).clamp_(min=0)
        return (outputs[..., 1:].cummin(dim=-1).values >= 0).sum(dim=-1)


REN = MethodRecord("ren", "re-encoded levels", "levels", as_published="differs", build=Reencode)
