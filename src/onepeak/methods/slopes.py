"""Slopes: level questions whose logits are the slopes of the class scores (onepeak's own method)."""

from typing import final

from onepeak._core.tensors import Labels, LogProbs, Outputs, PerSample, Scores
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.levels import LevelMethod, accumulate, answers, level_cross_entropy
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice, number


@final
class Slopes(LevelMethod):
    r"""Each output is the logit of "is the label above k?" and the slope of the class scores from k to k + 1.

    .. math:: s_0 = 0, \quad s_{k+1} = s_k + o_k, \quad p = \mathrm{softmax}(s / \tau), \qquad
              \ell = \sum_{k=0}^{c-2} (\sigma(o_k) - [k < y])^2 + w \cdot \mathrm{CE}(s, y)

    The paper's constraints (eq. 2) require the scores to rise before the label and fall after it: o_k is positive for k
    < y and negative for k >= y. The level questions ask exactly this, so they *are* the constraint, with one bounded
    term per pair, and no barrier is needed. The o_k are the adjacent-category logits of statistics. The sum is over the
    c - 1 levels.

    Args:
        weight: w, the weight of cross-entropy on the accumulated scores.
        levels: "squared" as above, or "logistic" for the log loss of each question. "squared" learns better with many
            classes; with few there is little difference. Both keep the order.
        temperature: :math:`\tau` of the posterior; the loss does not use it.

    Example:
        >>> import torch
        >>> slopes = Slopes(num_classes=4)
        >>> slopes.class_scores(torch.tensor([2.0, 1.0, -3.0]))
        tensor([0., 2., 3., 0.])
        >>> slopes.predict(torch.tensor([2.0, 1.0, -3.0]))
        tensor(2)
    """

    decision = "mode"
    weight: float = number(0.1, minimum=0)
    levels: str = choice("squared", "logistic")
    temperature: float = number(1.0, above=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        if self.levels == "squared":
            above = answers(labels, self.num_outputs).to(outputs.dtype)
            levels = (outputs.sigmoid() - above).square().sum(dim=-1)
        else:
            levels = level_cross_entropy(outputs, labels)
        return levels + self.weight * cross_entropy(accumulate(outputs), labels)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return (accumulate(outputs) / self.temperature).log_softmax(dim=-1)

    def class_scores(self, outputs: Outputs) -> Scores:
        return accumulate(outputs)


SLOPES = MethodRecord(
    "slopes", "level questions as slopes", "levels", reference="onepeak", num_outputs="c-1", build=Slopes
)
