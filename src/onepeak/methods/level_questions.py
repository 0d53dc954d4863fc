"""OR-CNN and Frank-Hall: one independent binary question per level (Niu et al. 2016; Frank & Hall 2001)."""

from typing import final, get_args

from onepeak._check import check_choice
from onepeak._shapes import Labels, LogProbs, Outputs, PerClass, PerSample
from onepeak.methods.levels import level_cross_entropy, log_differences
from onepeak.methods.method import MedianOrMode, Method


@final
class LevelQuestions(Method):
    r"""The network answers "is the label above k?" for each of the c - 1 levels.

    .. math:: \ell = -\sum_{k=0}^{c-2} \big( [y > k] \log \sigma(o_k) + [y \le k] \log \sigma(-o_k) \big), \qquad
              p_k = \sigma(o_{k-1}) - \sigma(o_k)

    Nothing makes the answers consistent: if levels rise, the posterior uses their running minimum, see
    `log_differences`. Not one-peaked by construction. The sum is over the levels, each with weight 1 (Niu et al. can
    weight them by the number of samples). Prediction: the number of levels before the first "no", which is the median
    of the posterior (Niu et al. count every "yes", which is the same for consistent answers); or the mode, as in Frank
    and Hall.

    Args:
        num_classes: Number of classes, at least 2.
        decision: "median" or "mode".
        class_weight: Weight of each class.

    Example:
        >>> import torch
        >>> or_cnn = LevelQuestions(num_classes=3)
        >>> or_cnn.predict(torch.tensor([[2.0, -1.0]]))
        tensor([1])

    Reference: Niu et al., "Ordinal regression with multiple output CNN for age estimation", CVPR 2016; Frank, Hall, "A
    simple approach to ordinal classification", ECML 2001.
    """

    def __init__(
        self, num_classes: int, *, decision: MedianOrMode = "median", class_weight: PerClass | None = None
    ) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.decision = check_choice("decision", decision, get_args(MedianOrMode))

    @property
    def num_outputs(self) -> int:
        """One question per level."""
        return self.num_classes - 1

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """Binary cross-entropy, summed over the levels."""
        return level_cross_entropy(outputs, labels)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """Differences of levels."""
        return log_differences(outputs)


def or_cnn(num_classes: int, *, class_weight: PerClass | None = None) -> LevelQuestions:
    """OR-CNN: level questions, decided by the first "no"."""
    return LevelQuestions(num_classes, decision="median", class_weight=class_weight)


def frank_hall(num_classes: int, *, class_weight: PerClass | None = None) -> LevelQuestions:
    """Frank and Hall: level questions, decided by the most probable class."""
    return LevelQuestions(num_classes, decision="mode", class_weight=class_weight)
