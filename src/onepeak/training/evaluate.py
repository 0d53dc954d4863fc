"""Runs a network over samples and measures its predictions."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

from onepeak._core.check import readable
from onepeak._core.reduce import Reduction, weights_of_samples
from onepeak._core.tensors import LabelProbs, Labels, PerSample
from onepeak.data.manifest import NEARLY_HALF, LabelDistribution
from onepeak.errors import InputError, NotFiniteError
from onepeak.methods.method import Method, offsets_from
from onepeak.metrics.catalog import DEFAULT_NAMES, collection
from onepeak.metrics.functional import quadratic_weighted_kappa
from onepeak.networks.head import MapHead
from onepeak.networks.network import Network
from onepeak.posterior.predictions import Predictions
from onepeak.training.familiarity import Familiarity
from onepeak.training.feed import Feed, Indices, on_device

if TYPE_CHECKING:
    from lightning.fabric import Fabric
    from torchmetrics import MetricCollection


SAMPLES_AT_ONCE = 4096
"""Number of samples that are measured together."""


@torch.inference_mode()
def predict(
    network: Network,
    feed: Feed,
    indices: Indices,
    labels: Tensor,
    *,
    fabric: "Fabric",
    batch_size: int,
    familiarity: Familiarity | None = None,
) -> Predictions:
    """Returns the posteriors and predicted labels of some samples; with `familiarity`, their distances too."""
    network.eval()
    log_probs = torch.empty(len(indices), network.method.num_classes)
    predicted = torch.empty(len(indices), dtype=torch.int64)
    seen: list[tuple[Tensor, Tensor, Tensor]] = []
    for places, inputs in feed.evaluation_inputs(indices, batch_size=batch_size):
        with fabric.autocast():
            outputs, features = network.with_features(inputs)
        log_probs[places] = network.method.log_probs(outputs).float().cpu()
        predicted[places] = network.method.predict(outputs).cpu()
        if familiarity is not None:
            features = familiarity.seen(inputs, features).nan_to_num()
            seen.append((places, familiarity.distance(features).cpu(), familiarity.coordinates(features).cpu()))
    chosen = labels[on_device(indices, labels.device)].cpu()
    found = Predictions(items=indices, truth=chosen, predicted_index=predicted, log_probs=log_probs)
    if not seen:
        return found
    places, distance, coordinates = map(torch.cat, zip(*seen, strict=True))
    order = places.argsort()
    return replace(found, distance=distance[order], coordinates=coordinates[order])


def measured_names(select: str) -> tuple[str, ...]:
    """Returns the metrics of the catalog that training measures: the default ones and `select`, if it is one."""
    also = () if select in ("loss", "last", EXPECTED_MAE, *DEFAULT_NAMES) else (select,)
    return (*DEFAULT_NAMES, *also)


def measure(predictions: Predictions, *, names: Iterable[str] = DEFAULT_NAMES) -> dict[str, float]:
    """Returns metrics of the catalog by key, over samples whose truth is known."""
    metrics = collection(predictions.log_probs.shape[-1], names=names)
    metrics.update(predictions.log_probs, predictions.truth, predictions.predicted_index)
    return {name: float(value) for name, value in metrics.compute().items()}


def figures_by(predictions: Predictions, values: Sequence[str]) -> dict[str, dict[str, float]]:
    """Returns how many samples have each value of a property, their accuracy and mean absolute error; sorted by value.

    Example:
        >>> truth, log_probs = torch.tensor([0, 1, 1]), torch.zeros(3, 2)
        >>> given = Predictions(items=truth.numpy(), truth=truth, predicted_index=truth * 0, log_probs=log_probs)
        >>> figures_by(given, ["left", "right", "left"])["left"]
        {'samples': 2, 'accuracy': 0.5, 'mae': 0.5}
    """
    errors, found = (predictions.predicted_index - predictions.truth).abs().double(), {}
    for value in sorted(set(values)):
        own = errors[torch.tensor([each == value for each in values])]
        found[value] = {"samples": len(own), "accuracy": float((own == 0).double().mean()), "mae": float(own.mean())}
    return found


Answers: TypeAlias = Iterable[tuple[Tensor, Tensor]]
"""A network's outputs, a batch at a time, and the labels; on the network's device."""


@torch.inference_mode()
def answers(
    network: Network, feed: Feed, indices: Indices, labels: Tensor, *, fabric: "Fabric", batch_size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields the outputs for this process's share of some samples, and their labels."""
    network.eval()
    mine = indices[fabric.global_rank :: fabric.world_size]
    for places, inputs in feed.evaluation_inputs(mine, batch_size=batch_size):
        with fabric.autocast():
            outputs = network(inputs)
        yield outputs, labels[on_device(mine[places.numpy()], labels.device)]


@torch.inference_mode()
def validate(method: Method, given: Answers, metrics: "MetricCollection", *, fabric: "Fabric") -> dict[str, float]:
    """Returns the metrics and the mean loss over the outputs of all processes, without keeping posteriors.

    For a network that has diverged it returns only the loss, which is then not finite.
    """
    metrics.reset()
    device = fabric.device
    loss = torch.zeros(4, dtype=torch.float64, device="cpu" if device.type == "mps" else device)
    for outputs, truth in _many_at_once(given):
        batch_loss = loss_or_nan(method, outputs, truth, reduction="sum")
        loss[0] += batch_loss.to(loss.device)
        weights = weights_of_samples(truth, method.class_weight, None, loss.dtype)
        loss[1] += len(truth) if weights is None else weights.sum().to(loss.device)
        if not readable(batch_loss) or batch_loss.isfinite():  # metrics reject NaN where they can read it
            predicted = method.predict(outputs)
            metrics.update(method.log_probs(outputs), medians(truth), predicted)
            if truth.is_floating_point():
                loss[2] += expected_errors(predicted, truth).sum().to(loss.device)
                loss[3] += len(truth)
    total, weight, error, count = torch.as_tensor(fabric.all_reduce(loss, reduce_op="sum")).tolist()
    if not math.isfinite(total):
        return {"loss": total}
    return {
        "loss": total / weight if weight else 0.0,
        **{name: float(value) for name, value in metrics.compute().items()},
        **({EXPECTED_MAE: error / count} if count else {}),
    }


EXPECTED_MAE = "expected_mae"
"""The mean absolute error, expected over the distribution of each sample's label."""


def medians(labels: Labels | LabelProbs) -> Labels:
    """Returns labels, or the medians of distributions over them: the labels that the data have, ties included."""
    return (labels.cumsum(dim=-1) < NEARLY_HALF).sum(dim=-1) if labels.is_floating_point() else labels


def expected_errors(predicted: Labels, label_probs: LabelProbs) -> PerSample:
    """Returns the absolute error of each sample, expected over the distribution of its label."""
    return (offsets_from(predicted, label_probs.shape[-1]).abs() * label_probs).sum(dim=-1)


def measure_against(predictions: Predictions, distribution: LabelDistribution) -> dict[str, Any]:
    """Measures predictions against distributions over the labels: those of the same samples, in their order.

    Returns the expected MAE, the ranked probability score against the distributions, and for each rater on how many
    samples, and by quadratic weighted kappa and exactly, the model and the other raters agree with it; NaN where that
    is not defined.
    """
    truth = torch.tensor(distribution.probs)
    expected = expected_errors(predictions.predicted_index, truth)
    below = (predictions.log_probs.double().softmax(dim=-1) - truth).cumsum(dim=-1)
    found: dict[str, Any] = {EXPECTED_MAE: float(expected.mean()), "rps": float(below.square().sum(dim=-1).mean())}
    if distribution.ratings is None:
        return found
    num_classes, ratings = truth.shape[-1], torch.tensor(distribution.ratings)

    def agreement(first: Labels, second: Labels) -> tuple[float, float]:
        kappa = quadratic_weighted_kappa(first, second, num_classes=num_classes)
        return float(kappa), float((first == second).double().mean())

    raters = {}
    for place, name in enumerate(distribution.columns):
        own, others = ratings[:, place], torch.cat([ratings[:, :place], ratings[:, place + 1 :]], dim=1)
        rated, pairs = own >= 0, (own >= 0)[:, None] & (others >= 0)
        model = agreement(predictions.predicted_index[rated], own[rated])
        between = agreement(others[pairs], own[:, None].expand_as(others)[pairs])
        names = ("model_qwk", "model_accuracy", "raters_qwk", "raters_accuracy")
        raters[name] = {"samples": int(rated.sum()), **dict(zip(names, (*model, *between), strict=True))}
    return {**found, "raters": raters}


def _many_at_once(given: Answers) -> Iterator[tuple[Tensor, Tensor]]:
    """Joins batches: metrics take hundreds of small operations, whether for two samples or for thousands."""
    waiting: list[tuple[Tensor, Tensor]] = []
    for pair in given:
        waiting.append(pair)
        if sum(len(truth) for _, truth in waiting) >= SAMPLES_AT_ONCE:
            yield _together(waiting)
            waiting = []
    if waiting:
        yield _together(waiting)


def _together(pairs: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    outputs, labels = zip(*pairs, strict=True)
    return torch.cat(outputs), torch.cat(labels)


def loss_or_nan(method: Method, outputs: Tensor, labels: Tensor, *, reduction: Reduction) -> Tensor:
    """Returns the loss, or NaN for outputs that are not finite, so that all processes reach the check together."""
    try:
        return method.loss(outputs, labels, reduction=reduction)
    except NotFiniteError:
        return outputs.sum() * math.nan


MOST_MAPS = 64
"""Number of images examined: enough for a scale, and few compared with training."""
_SHARE = 0.9
"""Share of those images whose brightest place lies within the scale."""
_LEAST_EVIDENCE_RANGE = 1.0
"""Shortest length of the scale: smaller differences between classes are negligible."""


@torch.inference_mode()
def evidence_range(
    network: Network, feed: Feed, indices: Indices, predicted: Labels, *, fabric: "Fabric", batch_size: int
) -> tuple[float, float] | None:
    """Returns the evidence drawn as nothing and the evidence drawn brightest, on every map of a model.

    The lower end is the evidence for a class that is no more likely than the others. It is 0, because maps show a score
    minus the mean over classes; for methods without class scores it is the log-probability of chance. The upper end
    bounds the highest evidence for the predicted class in nine of ten images.
    """
    if not isinstance(network.head, MapHead) or not len(indices):
        return None
    chosen = torch.linspace(0, len(indices) - 1, min(len(indices), MOST_MAPS)).round().long()
    highest = torch.empty(len(chosen))
    for places, inputs in feed.evaluation_inputs(indices[chosen.numpy()], batch_size=batch_size):
        labels = predicted[chosen[places]].to(inputs.device)
        with fabric.autocast():
            maps = network.class_evidence(inputs, labels)
        highest[places] = maps.amax(dim=(1, 2)).float().cpu()
    low = _even(network.method, network.head.classifier.weight.device)
    high = float(highest.nan_to_num(nan=low, neginf=low).quantile(_SHARE))
    return low, max(float(f"{high:.4g}"), low + _LEAST_EVIDENCE_RANGE)


def _even(method: Method, device: torch.device) -> float:
    """Returns the evidence for a class that is no more likely than the others."""
    try:
        method.class_scores(torch.zeros(1, method.num_outputs, device=device))
    except InputError:  # the method has no class scores
        return float(f"{-math.log(method.num_classes):.4g}")
    return 0.0
