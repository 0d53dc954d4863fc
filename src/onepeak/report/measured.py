"""The figures that tables may hold: every metric, the proper scores again of calibrated posteriors, and intervals."""

from collections.abc import Callable
from dataclasses import dataclass, field

from onepeak._registry import Registry
from onepeak.experiment.records import CALIBRATED, INTERVALS
from onepeak.metrics.catalog import METRICS, MetricRecord
from onepeak.training.calibration import ALPHA


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a table says of a figure."""

    name: str
    title: str
    higher_is_better: bool | None
    """None where neither is: coverage should be what was promised."""
    high: float | None
    """As of `MetricRecord`."""
    chance: Callable[[int], float] | None = field(default=None, repr=False)
    """As of `MetricRecord`."""


def _with_calibrated(record: MetricRecord) -> tuple[Measured, ...]:
    """A metric, and behind it the same of calibrated posteriors where it is read of these too."""
    better, high, chance = record.higher_is_better, record.high, record.chance
    plain = Measured(name=record.name, title=record.title, higher_is_better=better, high=high, chance=chance)
    if record.name not in CALIBRATED:
        return (plain,)
    name, title = f"{record.name}_calibrated", f"{record.title}, calibrated"
    return plain, Measured(name=name, title=title, higher_is_better=better, high=high, chance=chance)


MEASURED: Registry[Measured] = Registry(
    "metric",
    [
        *(each for record in METRICS for each in _with_calibrated(record)),
        Measured(
            name=INTERVALS["coverage"],
            title=f"share of true labels within their interval, {1 - ALPHA:.0%} promised",
            higher_is_better=None,
            high=1.0,
        ),
        Measured(
            name=INTERVALS["interval_size"],
            title=f"labels in an interval that promises {1 - ALPHA:.0%}",
            higher_is_better=False,
            high=None,
        ),
    ],
)
"""In the order in which tables show them; a calibrated one after the one as trained."""
