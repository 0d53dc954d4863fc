"""How a model's posteriors are read: calibrated or raw, projected or not, with which decision and intervals."""

from dataclasses import dataclass
from typing import NamedTuple

import torch

from onepeak._core.check import check_choice, check_number
from onepeak._core.tensors import Intervals, Labels, LogProbs
from onepeak._core.wording import counted
from onepeak.data.costs import COST, Costs, check_given_together
from onepeak.errors import InputError
from onepeak.posterior import DECISIONS, minimum_cost, project
from onepeak.posterior.conformal import samples_needed
from onepeak.training.calibration import ALPHA, Calibration

QWK = "qwk"


@dataclass(frozen=True, kw_only=True)
class PosteriorOptions:
    """How to read a posterior.

    Example:
        >>> import torch
        >>> calibration = Calibration(temperature=2.0, num_samples=9, scores=(0.0,) * 5 + (1.0,) * 4)
        >>> log_probs, labels = torch.tensor([[0.1, 0.8, 0.1]]).log(), torch.tensor([1])
        >>> read = PosteriorOptions(alpha=0.2).read(log_probs, labels, calibration)
        >>> read.log_probs.exp(), read.intervals
        (tensor([[0.2071, 0.5858, 0.2071]]), tensor([[0, 2]]))
    """

    alpha: float | None = None
    """The share of samples whose interval may miss the true label; by default 0.1, if the model allows it."""
    decide: str | None = None
    """A name in `onepeak.posterior.DECISIONS`, "qwk" or "cost", applied to the posterior that is shown. By default the
    label is the method's own decision, from its raw outputs. "qwk" is for the highest quadratic weighted kappa: the
    model's `KappaRule` if it was better on the validation part than the method's own decision, otherwise that."""
    cost: Costs | None = None
    """What each mistake costs, for the decision "cost"; see `onepeak.posterior.minimum_cost`."""
    project: bool = False
    """Whether posteriors are replaced by the nearest ones with one peak. With the method's own label the peak is at
    that label; with a decision the peak is at the best place, which is then the mode. Median, mean and least cost may
    still choose a label next to the peak."""
    raw: bool = False
    """Whether posteriors are left uncalibrated, at the temperature they came with."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The options that differ from the defaults, in a word or two each.

        Example:
            >>> PosteriorOptions(alpha=0.05, decide="median", project=True).choices, PosteriorOptions().choices
            (('alpha 0.05', 'decide median', 'project'), ())
        """
        chosen = {"alpha": self.alpha, "decide": self.decide}
        named = [f"{name} {value}" for name, value in chosen.items() if value is not None]
        switched = {"project": self.project, "raw": self.raw}
        return (*named, *(name for name, value in switched.items() if value))

    def check(self, calibration: Calibration | None) -> None:
        """Refuses impossible options early, before any image is read."""
        if self.decide is not None:
            check_choice("decide", self.decide, (*DECISIONS, QWK, COST))
        check_given_together(self.decide, self.cost)
        if self.alpha is not None:
            check_number("alpha", self.alpha, above=0, below=1)
            if calibration is None:
                raise InputError("`alpha` needs a calibrated model, got one from an earlier version: train it again.")
            calibration.threshold(self.alpha)

    def used_alpha(self, calibration: Calibration | None) -> float | None:
        """The alpha of the intervals; None if there are no intervals."""
        if self.alpha is not None:
            return self.alpha
        return ALPHA if calibration is not None and calibration.allows(ALPHA) else None

    def notes(self, calibration: Calibration | None) -> tuple[str, ...]:
        """What the user should know about the posteriors and about missing intervals."""
        notes = []
        if self.decide is not None and self.keeps_labels(calibration):
            notes.append(
                "decided as by default: the model has no rule for QWK that was better on its validation samples"
            )
        if calibration is None:
            earlier = "posteriors are not calibrated and have no intervals: the model is from an earlier version"
            return (*notes, earlier)
        notes += [calibration.note] if calibration.note is not None and not self.raw else []
        if self.used_alpha(calibration) is None:
            had = counted(calibration.num_samples, "validation sample")
            notes.append(f"no intervals: the model had {had}, and {samples_needed(ALPHA)} are needed for alpha {ALPHA}")
        return tuple(notes)

    def read(self, log_probs: LogProbs, labels: Labels, calibration: Calibration | None) -> "FinalPosteriors":
        """Reads posteriors that come from the network.

        Intervals are always those of the calibrated posterior before projection, on which their width was learnt. They
        contain the predicted label.
        """
        final = self.projected(log_probs, labels, calibration)
        if calibration is not None and not self.raw:
            final = calibration.temper(final)
        labels = self._decided(final, labels, calibration)
        intervals, alpha = None, self.used_alpha(calibration)
        if calibration is not None and alpha is not None:
            intervals = calibration.intervals(log_probs, labels, alpha)
        return FinalPosteriors(labels=labels, log_probs=final, intervals=intervals)

    def keeps_labels(self, calibration: Calibration | None) -> bool:
        """Whether labels are the method's own: without a decision, or for "qwk" without a rule that is better."""
        return self.decide is None or (self.decide == QWK and (calibration is None or calibration.qwk is None))

    def projected(self, log_probs: LogProbs, labels: Labels, calibration: Calibration | None = None) -> LogProbs:
        """Projects the posteriors to one peak if asked for; at the method's own labels if these are kept."""
        if not self.project:
            return log_probs
        return project(log_probs, labels if self.keeps_labels(calibration) else None)

    def _decided(self, log_probs: LogProbs, labels: Labels, calibration: Calibration | None) -> Labels:
        if self.decide is None or self.keeps_labels(calibration):
            return labels
        if self.decide == QWK and calibration is not None and calibration.qwk is not None:
            return calibration.qwk(log_probs)
        if self.cost is not None:
            return minimum_cost(log_probs, torch.tensor(self.cost, dtype=torch.float64))
        return DECISIONS[self.decide](log_probs)


class FinalPosteriors(NamedTuple):
    """Posteriors after reading."""

    labels: Labels
    log_probs: LogProbs
    intervals: Intervals | None
