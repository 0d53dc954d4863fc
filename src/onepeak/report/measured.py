"""The figures that tables may hold: every metric, and the proper scores again of calibrated posteriors."""

from dataclasses import replace

from onepeak._registry import Registry
from onepeak.experiment.records import CALIBRATED
from onepeak.metrics.catalog import METRICS, MetricRecord


def _with_calibrated(record: MetricRecord) -> tuple[MetricRecord, ...]:
    if record.name not in CALIBRATED:
        return (record,)
    again = replace(record, name=f"{record.name}_calibrated", title=f"{record.title}, calibrated", default=False)
    return record, again


MEASURED: Registry[MetricRecord] = Registry("metric", [each for record in METRICS for each in _with_calibrated(record)])
"""In the order in which tables show them; a calibrated one after the one as trained."""
