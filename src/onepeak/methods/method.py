"""The base class of methods: number of outputs, loss, posterior and prediction."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from inspect import Signature
from typing import Any, ClassVar, Literal, TypeAlias

import torch
from torch import Tensor, nn

from onepeak._core.check import (
    check_choice,
    check_class_weight,
    check_label_probs,
    check_labels,
    check_num_classes,
    check_scores,
    check_weights,
    finite_loss,
    is_label_probs,
)
from onepeak._core.reduce import Reduction, check_reduction, reduce, sample_per_class, weights_of_samples
from onepeak._core.registry import unknown_name
from onepeak._core.tensors import LabelProbs, Labels, LogProbs, Outputs, PerClass, PerSample, Scores, full_precision
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.errors import InputError
from onepeak.methods.settings import Setting, signature_of
from onepeak.posterior import DECISIONS

Variant: TypeAlias = Literal["corrected", "as_published"]
"""The method as the cited paper defines it, or as the code behind the results of Belharbi et al. 2019 computes it."""


class Method(nn.Module, ABC):
    """A way to do ordinal classification: outputs, loss, posterior and prediction.

    A subclass defines `num_outputs`, `posterior_of`, its `decision`, its settings and, unless it is minus the
    log-likelihood of that posterior, `sample_losses`. This class adds input checks, weights and reduction. Losses and
    posteriors of half-precision outputs are computed and returned in float32.

    Args:
        num_classes: Number of classes, at least 2.
        class_weight: Weight of each class. A class of weight 2 counts as if each of its samples occurred twice.
    """

    decision: str = "mode"
    """How `predict` derives a label from the posterior: a name in `onepeak.posterior.DECISIONS`."""

    batchwise: bool = False
    """Whether the loss of a sample depends on the rest of its batch, as in weighted kappa."""

    counts_samples: bool = False
    """Whether the schedule follows the samples seen, so that `loss` refuses a distribution over labels."""

    asks_features: bool = False
    """Whether training also asks something of the features, see `feature_loss`."""

    own_rate: float = 1.0
    """Learning-rate factor for the method's own parameters, relative to the network's weights. Thresholds lie units
    apart: at the rate of the weights, the network would adapt to wrong thresholds before they could move."""

    class_weight: Tensor | None

    _settings: ClassVar[Mapping[str, Setting]] = {}
    __signature__: ClassVar[Signature | None] = signature_of(())

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        declared = {name: each for name, each in vars(cls).items() if isinstance(each, Setting)}
        cls._settings = {**cls._settings, **declared}
        for name, each in declared.items():
            setattr(cls, name, each.default)
        parameters = [each.parameter(name) for name, each in cls._settings.items()]
        cls.__signature__ = signature_of(parameters) if cls.__init__ is Method.__init__ else None
        check_choice("decision", cls.decision, DECISIONS)

    def __init__(self, num_classes: int, *, class_weight: PerClass | None = None, **settings: Any) -> None:
        super().__init__()
        self.num_classes = check_num_classes(num_classes)
        if class_weight is not None:
            check_class_weight(class_weight, self.num_classes)
        self.register_buffer("class_weight", class_weight)
        for name in settings.keys() - self._settings.keys():
            raise unknown_name(f"setting of {type(self).__name__}", name, self._settings)
        for name, each in self._settings.items():
            setattr(self, name, each.check(name, settings.get(name, each.default)))
        self.setup()

    def setup(self) -> None:
        """Makes what the settings determine, such as parameters and tables. Called once, when the method is built."""

    @property
    @abstractmethod
    def num_outputs(self) -> int:
        """The number of network outputs per sample. A subclass where it is fixed may set a number."""

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The unweighted loss of each sample; minus the log-probability of its label by default.

        Inputs are already checked: outputs float32 or float64, labels int64.
        """
        return -self.posterior_of(outputs).gather(-1, labels.unsqueeze(-1)).squeeze(-1)

    @abstractmethod
    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """The log-probabilities of the classes. Outputs are already checked: float32 or float64."""

    def class_scores(self, outputs: Outputs) -> Scores:
        """One score per class, on which an order constraint acts. Default: the log-probabilities.

        A method that does not support constraints raises an `InputError` here.
        """
        return self.posterior_of(outputs)

    def loss(
        self,
        outputs: Outputs,
        labels: Labels | LabelProbs,
        sample_weight: PerSample | None = None,
        *,
        reduction: Reduction = "mean",
    ) -> Tensor:
        """The loss that training minimises.

        Args:
            outputs: Network outputs of shape (..., num_outputs).
            labels: True labels; or a distribution over them, of shape (..., num_classes), for soft labels or several
                raters. The loss is then its expectation over the label, as if the sample occurred once per class,
                weighted by the class's probability.
            sample_weight: Weight of each sample. Default: 1.
            reduction: "none", "mean" or "sum". The mean divides by the total weight of the samples.
        """
        check_scores(outputs, self.num_outputs, name="outputs")
        check_reduction(reduction)
        if sample_weight is not None:
            check_weights(sample_weight, outputs.shape[:-1], name="sample_weight")
        if is_label_probs(labels, outputs):
            loss = self._expected_loss(full_precision(outputs), labels, sample_weight, reduction)
            return finite_loss(loss, outputs, name="outputs")
        check_labels(labels, self.num_classes, outputs.shape[:-1])
        outputs, labels = full_precision(outputs), labels.long()
        weights = weights_of_samples(labels, self.class_weight, sample_weight, outputs.dtype)
        if weights is None and reduction == "mean":
            return finite_loss(self.mean_loss(outputs, labels), outputs, name="outputs")
        loss = reduce(self.weighted_losses(outputs, labels, weights), weights, reduction)
        return finite_loss(loss, outputs, name="outputs")

    def _expected_loss(
        self, outputs: Outputs, labels: LabelProbs, sample_weight: PerSample | None, reduction: Reduction
    ) -> Tensor:
        check_label_probs(labels, self.num_classes, outputs.shape[:-1], counts_samples=self.counts_samples)
        outputs, classes, weights = sample_per_class(outputs, labels, sample_weight)
        if self.class_weight is not None:
            weights = weights * self.class_weight.to(weights.dtype)  # the last axis are the classes
        losses = self.weighted_losses(outputs, classes, weights)
        return reduce(losses.sum(dim=-1), weights.sum(dim=-1), reduction)

    def weighted_losses(self, outputs: Outputs, labels: Labels, weights: PerSample | None) -> PerSample:
        """The loss of each sample times its weight. A batchwise method also weights its batch statistics."""
        losses = self.checked_losses(outputs, labels)
        return losses if weights is None else losses * weights

    def mean_loss(self, outputs: Outputs, labels: Labels) -> Tensor:
        """The mean over samples. Override it if there is a faster form than averaging `sample_losses`."""
        return self.checked_losses(outputs, labels).mean()

    def checked_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """`sample_losses`; raises if a method returns a reduced loss, to which weights cannot be applied."""
        losses = self.sample_losses(outputs, labels)
        if losses.shape != labels.shape:
            raise InputError(
                f"`sample_losses` of {type(self).__name__} must return one loss per sample, shape "
                f"{tuple(labels.shape)}, got shape {tuple(losses.shape)}: PyTorch's losses need reduction='none'."
            )
        return losses

    def feature_loss(self, features: Tensor, labels: Labels) -> Tensor:  # noqa: ARG002
        """What training minimises besides, of the features (samples x features) from which the outputs are made.

        Default: 0. A method that returns more sets `asks_features`.
        """
        return features.new_zeros(())

    def log_probs(self, outputs: Outputs) -> LogProbs:
        """The posterior over classes."""
        check_scores(outputs, self.num_outputs, name="outputs")
        return self.posterior_of(full_precision(outputs))

    def predict(self, outputs: Outputs) -> Labels:
        """The predicted labels."""
        return DECISIONS[self.decision](self.log_probs(outputs))

    @property
    def scheduled(self) -> bool:
        """Whether `tighten` changes the loss, so that an epoch's loss differs from that of the epoch before."""
        return type(self).tighten is not Method.tighten

    def tighten(self) -> None:
        """Advances the method's schedule, if it has one. Call it once per epoch, after validation."""


class SoftmaxMethod(Method):
    """The outputs are class scores, their softmax is the posterior and cross-entropy is the loss.

    A subclass defines another loss, or `num_outputs` and `class_scores` if it computes its scores from the outputs. All
    such methods accept an order constraint.
    """

    @property
    def num_outputs(self) -> int:
        return self.num_classes

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return self.class_scores(outputs).log_softmax(dim=-1)

    def class_scores(self, outputs: Outputs) -> Scores:
        return outputs

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return cross_entropy(self.class_scores(outputs), labels)


class Wrapped(Method):
    """A method on the outputs of another, its base, with the same answers. A subclass changes the outputs or the loss.

    Args:
        base: The method whose loss, posterior and prediction are those of this one.
    """

    def __init__(self, base: Method) -> None:
        if not isinstance(base, Method):
            raise InputError(f"`base` must be a method, got {type(base).__name__}: see onepeak.method(name, ...).")
        super().__init__(base.num_classes, class_weight=base.class_weight)
        self.base = base
        self.decision, self.own_rate = base.decision, base.own_rate
        self.batchwise, self.counts_samples = base.batchwise, base.counts_samples
        self.asks_features = self.asks_features or base.asks_features

    def base_outputs(self, outputs: Outputs) -> Outputs:
        """The outputs that the base method gets. Default: the same."""
        return outputs

    @property
    def num_outputs(self) -> int:
        return self.base.num_outputs

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return self.weighted_losses(outputs, labels, None)

    def weighted_losses(self, outputs: Outputs, labels: Labels, weights: PerSample | None) -> PerSample:
        return self.base.weighted_losses(self.base_outputs(outputs), labels, weights)

    def mean_loss(self, outputs: Outputs, labels: Labels) -> Tensor:
        return self.base.mean_loss(self.base_outputs(outputs), labels)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return self.base.posterior_of(self.base_outputs(outputs))

    def class_scores(self, outputs: Outputs) -> Scores:
        return self.base.class_scores(self.base_outputs(outputs))

    def predict(self, outputs: Outputs) -> Labels:
        check_scores(outputs, self.num_outputs, name="outputs")
        return self.base.predict(self.base_outputs(full_precision(outputs)))

    def feature_loss(self, features: Tensor, labels: Labels) -> Tensor:
        return self.base.feature_loss(features, labels)

    @property
    def scheduled(self) -> bool:
        return self.base.scheduled

    def tighten(self) -> None:
        self.base.tighten()


def offsets_from(places: Tensor, num_classes: int) -> Tensor:
    """How far each class lies above each label or position on the scale, along a new last axis.

    Example:
        >>> offsets_from(torch.tensor([0, 2]), 3)
        tensor([[ 0,  1,  2],
                [-2, -1,  0]])
    """
    return torch.arange(num_classes, device=places.device) - places.unsqueeze(-1)
