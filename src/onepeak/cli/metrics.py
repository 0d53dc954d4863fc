"""`onepeak metrics`: the catalog of metrics."""

import json
import math
from typing import TYPE_CHECKING, Annotated

import typer

from onepeak.cli.options import switch
from onepeak.cli.output import print_note, print_table

if TYPE_CHECKING:
    from onepeak.metrics.catalog import MetricRecord


def metrics(
    default: Annotated[
        bool | None,
        switch("Output", "--default/--further", "Only the metrics that training computes, or only the others."),
    ] = None,
    as_json: Annotated[bool, switch("Output", "--json", "Print the records as JSON.")] = False,
) -> None:
    """Lists all metrics: key in the results, title, direction and range.

    Training computes the default metrics and the one that selects the epoch; evaluate computes all.

    Example: onepeak metrics --default
    """
    from onepeak.metrics.catalog import METRICS

    records = [record for record in METRICS if default in (None, record.default)]
    if as_json:
        typer.echo(json.dumps([_record(record) for record in records], indent=2, allow_nan=False))
        return
    print_table(
        ("name", "title", "better", "range", "default"),
        [
            (
                record.name,
                record.title,
                "higher" if record.higher_is_better else "lower",
                f"{record.low:g} to {_high(record)}",
                "yes" if record.default else "no",
            )
            for record in records
        ],
    )
    print_note("c is the number of classes. --json adds references. Next: onepeak evaluate MODEL DATA --json")


def _high(record: "MetricRecord") -> str:
    """The upper end in words, since it may depend on the number of classes."""
    return "c - 1" if record.high is None else "infinity" if math.isinf(record.high) else f"{record.high:g}"


def _record(record: "MetricRecord") -> dict[str, object]:
    """What is known of a metric; its upper end is a number, "c - 1" or "infinity"."""
    fields = ("name", "title", "higher_is_better", "low", "needs", "default", "reference")
    plain = {name: getattr(record, name) for name in fields}
    bounded = record.high is not None and math.isfinite(record.high)
    return {**plain, "high": record.high if bounded else _high(record)}
