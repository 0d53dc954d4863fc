"""REN: the label re-encoded as a staircase of binary levels (Cheng et al. 2008)."""

from typing import Literal, TypeAlias, final, get_args

import torch
from torch.nn import functional as F

from onepeak._check import check_choice
from onepeak._shapes import Labels, LogProbs, Outputs, PerClass, PerSample, Scores
from onepeak.errors import InputError
from onepeak.methods.levels import log_differences
from onepeak.methods.method import Method, Variant
from onepeak.methods.slopes import accumulate
from onepeak.posterior import mode
from onepeak.posterior._check import check_class_scores

ReencodePosterior: TypeAlias = Literal["levels", "slopes"]


@final
class Reencode(Method):
    r"""One sigmoid a class, asked "is the label at least k?".

    .. math:: \ell = \sum_{k=0}^{c-1} (\sigma(o_k) - [k \le y])^2

    The network gives c numbers; the first question is always answered yes. Two posteriors can be read off them:

    - "levels": the probability of class k is level k minus level k + 1, the levels made to fall by their running
      minimum (which moves neither the prediction nor levels that fall already). Prediction: the class before the first
      level under one half, which is this posterior's median (the upper one where a level is one half).
    - "slopes": o_k is the slope of the class scores between k - 1 and k, see `Slopes`. Prediction: the mode.

    `as_published` differs in the posterior: the published code takes the order index on the sigmoids themselves, which
    are levels and no posterior; here they are normalised, which keeps their order. It predicts by the first level of
    all too, whose answer is always yes: where the network says no there, the first class, whatever follows.

    Args:
        num_classes: Number of classes, at least 2.
        posterior: "levels" or "slopes".
        variant: "corrected" or "as_published" (levels only).
        class_weight: A weight of each class.

    Example:
        >>> ren = Reencode(num_classes=3)
        >>> ren.predict(torch.tensor([[9.0, 2.0, -1.0]]))
        tensor([1])

    Reference: Cheng, Wang, Pollastri, "A neural network approach to ordinal regression", IJCNN 2008, eq. 3.
    """

    def __init__(
        self,
        num_classes: int,
        *,
        posterior: ReencodePosterior = "levels",
        variant: Variant = "corrected",
        class_weight: PerClass | None = None,
    ) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.posterior = check_choice("posterior", posterior, get_args(ReencodePosterior))
        self.variant = check_choice("variant", variant, get_args(Variant))
        if posterior == "slopes" and variant == "as_published":
            raise InputError("`posterior` must be 'levels' with variant='as_published', got 'slopes'.")
        self.decision = "median" if posterior == "levels" else "mode"

    @property
    def num_outputs(self) -> int:
        """One level a class."""
        return self.num_classes

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The squared error of the levels, summed."""
        code = torch.arange(self.num_classes, device=labels.device) <= labels.unsqueeze(-1)
        return (outputs.sigmoid() - code.to(outputs.dtype)).square().sum(dim=-1)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """The posterior of the reading asked for."""
        if self.variant == "as_published":
            return F.logsigmoid(outputs).log_softmax(dim=-1)
        if self.posterior == "slopes":
            return accumulate(outputs[..., 1:]).log_softmax(dim=-1)
        return log_differences(outputs[..., 1:])

    def class_scores(self, outputs: Outputs) -> Scores:
        """The slopes added up; levels have no class scores."""
        if self.posterior == "levels":
            raise InputError("`ren` read as levels has no class scores to constrain: use posterior='slopes'.")
        return accumulate(outputs[..., 1:])

    def predict(self, outputs: Outputs) -> Labels:
        """The class before the first level under one half; read as slopes, the mode."""
        check_class_scores(outputs, self.num_outputs, name="outputs")
        if self.posterior == "slopes":
            return mode(self.log_probs(outputs))
        if self.variant == "as_published":  # asks the first question too, whose answer is known
            return ((outputs.cummin(dim=-1).values >= 0).sum(dim=-1) - 1).clamp_(min=0)
        return (outputs[..., 1:].cummin(dim=-1).values >= 0).sum(dim=-1)
