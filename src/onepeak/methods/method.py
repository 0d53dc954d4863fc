"""A method is four answers: how many numbers, what to minimise, what posterior, which label."""

from abc import ABC, abstractmethod
from typing import Literal, TypeAlias

from torch import Tensor, nn

from onepeak._check import (
    check_choice,
    check_class_weight,
    check_labels,
    check_num_classes,
    check_scores,
    check_weights,
    finite_loss,
)
from onepeak._precision import full_precision
from onepeak._reduce import Reduction, check_reduction, reduce, weights_of_samples
from onepeak._shapes import Labels, LogProbs, Outputs, PerClass, PerSample, Scores
from onepeak.errors import InputError
from onepeak.kernels import fused_rows, one_pass
from onepeak.posterior import DECISIONS

Variant: TypeAlias = Literal["corrected", "as_published"]
"""What the cited paper means, or what the code behind the figures of Belharbi et al. 2019 computes."""
MedianOrMode: TypeAlias = Literal["median", "mode"]
"""The decisions of a method whose posterior may be read by either."""


class Method(nn.Module, ABC):
    """What the trainer knows of a way to do ordinal classification.

    A subclass says `num_outputs`, `sample_losses`, `posterior_of` and its `decision`; checks, weights and reduction are
    written here once. Losses and posteriors of half-precision outputs are worked out and answered in float32.

    Args:
        num_classes: Number of classes, at least 2.
        class_weight: A weight of each class; a class weighted 2 counts as if each of its samples were seen twice.
    """

    decision: str = "mode"
    """How `predict` reads the posterior: a name in `onepeak.posterior.DECISIONS`."""

    batchwise: bool = False
    """Whether a sample's loss depends on the others of its batch (weighted kappa), and means little without them."""

    own_rate: float = 1.0
    """How many times as fast as the network's weights its own parameters learn, where it has some. Thresholds lie units
    apart: with steps that suit weights they would not get there before the rest has learnt to do without."""

    class_weight: Tensor | None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        check_choice("decision", cls.decision, DECISIONS)

    def __init__(self, num_classes: int, *, class_weight: PerClass | None = None) -> None:
        super().__init__()
        self.num_classes = check_num_classes(num_classes)
        if class_weight is not None:
            check_class_weight(class_weight, self.num_classes)
        self.register_buffer("class_weight", class_weight)

    @property
    @abstractmethod
    def num_outputs(self) -> int:
        """How many numbers the network must give for a sample."""

    @abstractmethod
    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The loss of each sample, not weighted: outputs are float32 or wider, labels int64, and both checked."""

    @abstractmethod
    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """The log-probabilities of the classes: outputs are float32 or wider, and checked."""

    def class_scores(self, outputs: Outputs) -> Scores:
        """One score a class, whose order an order constraint can act on: the log-probabilities, unless it has better.

        A method that no constraint can act on raises an `InputError` here.
        """
        return self.posterior_of(outputs)

    def loss(
        self,
        outputs: Outputs,
        labels: Labels,
        *,
        sample_weight: PerSample | None = None,
        reduction: Reduction = "mean",
    ) -> Tensor:
        """What training minimises; the mean divides by the total weight of the samples."""
        check_scores(outputs, self.num_outputs, name="outputs")
        check_labels(labels, self.num_classes, outputs.shape[:-1])
        check_reduction(reduction)
        if sample_weight is not None:
            check_weights(sample_weight, labels.shape, name="sample_weight")
        outputs, labels = full_precision(outputs), labels.long()
        weights = weights_of_samples(labels, self.class_weight, sample_weight, outputs.dtype)
        if weights is None and reduction == "mean":
            return finite_loss(self.mean_loss(outputs, labels), outputs, name="outputs")
        loss = reduce(self.weighted_losses(outputs, labels, weights), weights, reduction)
        return finite_loss(loss, outputs, name="outputs")

    def weighted_losses(self, outputs: Outputs, labels: Labels, weights: PerSample | None) -> PerSample:
        """Each sample's loss times its weight; a method that looks at the whole batch weighs what it sees there too."""
        losses = self.checked_losses(outputs, labels)
        return losses if weights is None else losses * weights

    def mean_loss(self, outputs: Outputs, labels: Labels) -> Tensor:
        """The mean over samples; a method with a faster form of it than through every sample's loss has its own."""
        if fused_rows.takes(outputs) and (terms := self.fused_terms()) is not None:
            return one_pass.mean_loss(outputs, labels, terms, self.sample_losses)
        return self.checked_losses(outputs, labels).mean()

    def checked_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The loss of each sample, and an error where a method has reduced it: no weight could act on that."""
        losses = self.sample_losses(outputs, labels)
        if losses.shape != labels.shape:
            raise InputError(
                f"`sample_losses` of {type(self).__name__} must give one number a sample, shape {tuple(labels.shape)}, "
                f'got shape {tuple(losses.shape)}: losses of PyTorch give it with reduction="none".'
            )
        return losses

    def fused_terms(self) -> fused_rows.RowTerms | None:
        """The loss for the kernels of a GPU, where they know it."""
        return None

    def log_probs(self, outputs: Outputs) -> LogProbs:
        """The posterior over classes."""
        check_scores(outputs, self.num_outputs, name="outputs")
        return self.posterior_of(full_precision(outputs))

    def predict(self, outputs: Outputs) -> Labels:
        """The label decided on."""
        return DECISIONS[self.decision](self.log_probs(outputs))

    def tighten(self) -> None:
        """Moves the method's schedule on: once an epoch, after validation."""
