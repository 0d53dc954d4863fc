"""How sure the posteriors of one method are and how right, as trained and calibrated, summed up run by run."""

from dataclasses import dataclass, field

import torch

from onepeak.metrics.functional.probabilistic import negative_log_likelihood, ranked_probability_score
from onepeak.posterior import Reliability, reliability, temper
from onepeak.report.tally import TestPart

FIGURES = ("ece", "rps", "nll")
"""What is measured of posteriors, by the names in the catalog of metrics."""


@dataclass(kw_only=True, eq=False)
class Posteriors:
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
class Sureness:
    """The posteriors of one method before and after temperature scaling; `add` one run after the other."""

    trained: Posteriors = field(default_factory=Posteriors)
    calibrated: Posteriors = field(default_factory=Posteriors)
    temperatures: list[float] = field(default_factory=list)
    """One per run, as its validation part set it."""

    def add(self, part: TestPart, *, temperature: float) -> None:
        """Measures one run.

        Args:
            part: What the run's model says of its test samples.
            temperature: Of the run.
        """
        log_probs, labels = torch.tensor(part.log_probs), torch.tensor(part.label)
        self.trained.add(log_probs, labels)
        self.calibrated.add(temper(log_probs, temperature), labels)
        self.temperatures.append(temperature)
