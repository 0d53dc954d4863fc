"""What the test predictions of one method say, summed up run by run so that no run stays in memory."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from onepeak.metrics.functional.probabilistic import negative_log_likelihood, ranked_probability_score
from onepeak.metrics.functional.side_order_index import num_violations
from onepeak.posterior import Reliability, reliability, runner_up_distance, temper
from onepeak.posterior.predictions import Predictions

MOST_SUSPECTS = 8
"""Paradoxical predictions that are kept of a method."""


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A prediction whose second most probable label is no neighbour of the first."""

    strength: float
    """Steps from the first label to the second, times the second's probability: far apart, and meant."""
    split: int
    fold: int
    item: int


@dataclass(kw_only=True, eq=False)
class PredictionSummary:
    """Counts and a few examples; `add` one run after the other."""

    num_classes: int
    examples_per_run: int
    """Posteriors that are kept of each predicted label and run, to be drawn."""
    most_examples: int
    """The same over all runs."""
    confusion: npt.NDArray[np.int64] = field(init=False)
    """How often each true class (rows) was given each label (columns)."""
    violations: npt.NDArray[np.int64] = field(init=False)
    """How many predictions have 0, 1, ... c - 1 adjacent pairs out of order to the label predicted."""
    num_paradoxical: int = 0
    suspects: list[Suspect] = field(default_factory=list)
    """The strongest, strongest first."""
    examples: dict[int, list[npt.NDArray[np.float32]]] = field(default_factory=dict)
    """Some posteriors of each predicted label, as probabilities."""

    def __post_init__(self) -> None:
        self.confusion = np.zeros((self.num_classes, self.num_classes), dtype=np.int64)
        self.violations = np.zeros(self.num_classes, dtype=np.int64)

    @property
    def num_predictions(self) -> int:
        """Over all runs."""
        return int(self.violations.sum())

    @property
    def paradoxical(self) -> float:
        """The share of predictions whose second most probable label is no neighbour of the first."""
        return self.num_paradoxical / max(1, self.num_predictions)

    @property
    def posteriors(self) -> dict[int, npt.NDArray[np.float32]]:
        """Some posteriors of each predicted label (posteriors x classes), the labels in their order."""
        return {label: np.stack(self.examples[label]) for label in sorted(self.examples)}

    def add(self, part: Predictions, *, split: int, fold: int) -> None:
        """Counts the predictions of one run."""
        np.add.at(self.confusion, (part.truth.numpy(), part.predicted_index.numpy()), 1)
        counts = num_violations(part.log_probs, part.predicted_index).numpy()
        self.violations += np.bincount(counts, minlength=self.num_classes)
        distance = runner_up_distance(part.log_probs).numpy()
        self.num_paradoxical += int((distance > 1).sum())
        self._keep_suspects(part, distance, split=split, fold=fold)
        self._keep_examples(part)

    def _keep_suspects(self, part: Predictions, distance: npt.NDArray[np.int64], *, split: int, fold: int) -> None:
        # of two ranks, the second highest probability
        second = np.exp(np.partition(part.log_probs.numpy(), -2, axis=-1)[:, -2])
        strength = np.where(distance > 1, distance * second, 0.0)
        for place in np.argsort(-strength, kind="stable")[:MOST_SUSPECTS]:
            if strength[place] > 0:
                self.suspects.append(
                    Suspect(strength=float(strength[place]), split=split, fold=fold, item=int(part.items[place]))
                )
        self.suspects.sort(key=lambda each: (-each.strength, each.split, each.fold, each.item))
        del self.suspects[MOST_SUSPECTS:]

    def _keep_examples(self, part: Predictions) -> None:
        log_probs, predicted = part.log_probs.numpy(), part.predicted_index.numpy()
        for label in np.unique(predicted).tolist():
            examples_of_label = self.examples.setdefault(label, [])
            room = min(self.examples_per_run, self.most_examples - len(examples_of_label))
            examples_of_label.extend(np.exp(log_probs[predicted == label][: max(0, room)]))


FIGURES = ("ece", "rps", "nll")
"""What is measured of posteriors, by the names in the catalog of metrics."""


@dataclass(kw_only=True, eq=False)
class PosteriorFigures:
    """What is known of posteriors at one temperature per run."""

    reliability: Reliability | None = None
    """Of all runs together; none before the first."""
    figures: list[dict[str, float]] = field(default_factory=list)
    """The figures of each run."""

    def add(self, log_probs: torch.Tensor, labels: torch.Tensor) -> None:
        """Measures the test part of one more run."""
        found = reliability(log_probs, labels)
        self.reliability = found if self.reliability is None else self.reliability + found
        self.figures.append(
            {
                "ece": found.confidence_error,
                "rps": float(ranked_probability_score(log_probs, labels).mean()),
                "nll": float(negative_log_likelihood(log_probs, labels).mean()),
            }
        )

    def mean(self, name: str) -> float:
        """The mean over runs of one of `FIGURES`."""
        return sum(each[name] for each in self.figures) / len(self.figures)


@dataclass(kw_only=True, eq=False)
class CalibrationSummary:
    """The posteriors of one method before and after temperature scaling; `add` one run after the other."""

    trained: PosteriorFigures = field(default_factory=PosteriorFigures)
    calibrated: PosteriorFigures = field(default_factory=PosteriorFigures)
    temperatures: list[float] = field(default_factory=list)
    """One per run, as its validation part set it."""

    def add(self, part: Predictions, *, temperature: float) -> None:
        """Measures one run."""
        self.trained.add(part.log_probs, part.truth)
        self.calibrated.add(temper(part.log_probs, temperature), part.truth)
        self.temperatures.append(temperature)
