"""`onepeak evaluate`: how good a trained model is on data."""

import json
import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onepeak.cli import options
from onepeak.cli.output import print_note, print_notes, print_table, spinner

if TYPE_CHECKING:  # the packages behind these are loaded when the command runs, so that --help is fast
    from onepeak.metrics.bootstrap import Interval
    from onepeak.serving.confidence import Confidence
    from onepeak.serving.evaluation import Evaluation
    from onepeak.serving.model import Model

_MOST_COLUMNS = 8
"""Of a table of what was given to which class; --json has it whole."""
_MOST_FAILED = 5
_HEADLINES = ("mae", "accuracy", "accuracy_within_1", "soi_predicted", "unimodal", "qwk", "rps", "nll", "ece")
"""What most people want to know: error, order, the posteriors. --json has every metric."""
_CONFIDENCE = "95 % confidence"
"""The column of confidence intervals: not of the model's intervals of classes."""


@options.with_flags(source={**options.LABELLED, "skip_bad": (options.SkipBad, False)})
def evaluate(
    model: options.Model,
    data: options.Data,
    source: dict[str, Any],
    part: Annotated[
        str | None,
        options.flag("Data", "--part", "test or valid: only the samples that the model's training held out."),
    ] = None,
    alpha: options.Alpha = None,
    decide: options.Decide = None,
    cost: options.Cost = None,
    project: options.Project = False,
    device: options.Device = "auto",
    batch_size: options.PredictBatch = None,
    as_json: Annotated[bool, options.switch("Output", "--json", "Print every metric and count as JSON.")] = False,
) -> None:
    """Evaluates a trained model on labelled data: error, consistency, posteriors, intervals and each class.

    The class order and the columns default to those of the training data. Reports how many samples the model was
    trained on; on the training data, --part test leaves them out. --json prints every metric.

    The 95 % confidence interval shows how much a figure may vary because the sample is small. It resamples whole
    groups: if a patient has several samples, name the patient column with --group.

    Example: onepeak evaluate model biopsies --part test
    """
    from onepeak._core.wording import counted
    from onepeak.data.source import DataSource
    from onepeak.serving import load
    from onepeak.serving.evaluation import evaluate as measured
    from onepeak.serving.evaluation_data import held_out, open_for
    from onepeak.serving.model import model_folder

    loaded = load(model, device=device)
    manifest = open_for(loaded, DataSource(data, **source))
    if part is not None:
        manifest = held_out(manifest, loaded, model_folder(model), part)  # type: ignore[arg-type]
    with spinner(f"Predicting {len(manifest):,} samples"):
        found = measured(
            loaded,
            manifest,
            batch_size=batch_size,
            skip_bad=source.get("skip_bad", False),
            alpha=alpha,
            decide=decide,
            cost=cost,
            project=project,
            confidence=True,
        )
    if as_json:
        _warn(found, part)
        typer.echo(json.dumps(_record(loaded, manifest.name, part, found), indent=2, allow_nan=False))
        return
    classes, method = len(loaded.classes), loaded.description.method
    print_note(f"{manifest.name}: {counted(len(found.labels), 'sample')}, {classes} classes; method {method}")
    print_notes(found.notes)
    _tell_failed(found)
    _warn(found, part)
    _show(loaded.classes, found, decision=loaded.network.method.decision)
    print_note(f"--json prints all {len(found.metrics)} metrics. Next: onepeak inspect {model} --data {data}")


def _warn(found: "Evaluation", part: str | None) -> None:
    from onepeak._core.wording import counted

    if not found.num_trained_on:
        return
    seen = f"{found.num_trained_on:,} of these {counted(len(found.labels), 'sample')}"
    if part is None:
        print_note(
            f"Warning: the model was trained on {seen}: these figures do not show how it does on new data. "
            "--part test uses only samples held out of training."
        )
    else:
        print_note(f"Note: the model was trained on copies of {seen}.")


def _tell_failed(found: "Evaluation") -> None:
    for row in found.failed[:_MOST_FAILED]:
        print_note(f"Left out: {row.source}: {row.error}")
    if len(found.failed) > _MOST_FAILED:
        print_note(f"... and {len(found.failed) - _MOST_FAILED:,} more left out (--json shows all).")


def _record(model: "Model", name: str, part: str | None, found: "Evaluation") -> dict[str, object]:
    """All that was measured; a metric that is not defined is null."""
    from onepeak.metrics.catalog import METRICS

    num_classes = len(model.classes)
    return {
        "dataset": name,
        "part": part,
        "method": model.description.method,
        "items": len(found.labels),
        "trained_on": found.num_trained_on,
        "classes": dict(zip(model.classes, found.class_counts, strict=True)),
        "confusion": found.confusion,
        "intervals_by_class": _intervals_by_class(model.classes, found),
        "metrics": {name: value if math.isfinite(value) else None for name, value in found.metrics.items()},
        "calibrated": {name: value if math.isfinite(value) else None for name, value in found.calibrated.items()},
        "paradoxical": found.paradoxical,
        **({} if found.cost is None else {"cost": found.cost}),
        "confidence": None if found.confidence is None else _confidence(found.confidence),
        "chance": {
            record.name: record.chance(num_classes, model.network.method.decision)
            for record in METRICS
            if record.chance is not None
        },
        "failed": [{"path": row.source, "error": row.error} for row in found.failed],
        "notes": list(found.notes),
    }


def _confidence(found: "Confidence") -> dict[str, object]:
    """The confidence intervals under the names of the figures; null where there is none."""
    from onepeak.serving.confidence import LEVEL

    return {
        "level": LEVEL,
        "resampled": f"{found.unit}s",
        "count": found.num_units,
        "resamples": found.num_resamples,
        "metrics": found.metrics,
        "calibrated": found.calibrated,
        "paradoxical": found.paradoxical,
        **({} if found.cost is None else {"cost": found.cost}),
    }


def _intervals_by_class(classes: tuple[str, ...], found: "Evaluation") -> dict[str, dict[str, float] | None] | None:
    """The coverage and mean size of the intervals of each class; null for a class without items."""
    if found.intervals_by_class is None:
        return None
    return {
        name: None if math.isnan(coverage) else {"coverage": coverage, "interval_size": size}
        for name, (coverage, size) in zip(classes, found.intervals_by_class, strict=True)
    }


def _headlines(num_classes: int, found: "Evaluation", *, decision: str) -> list[tuple[str, ...]]:
    """The headline metrics, those of posteriors before calibration."""
    from onepeak.metrics.catalog import METRICS

    rows: list[tuple[str, ...]] = []
    for name in _HEADLINES:
        record, value = METRICS[name], found.metrics[name]
        interval = None if found.confidence is None else found.confidence.metrics[name]
        better = "higher" if record.higher_is_better else "lower"
        chance = "" if record.chance is None else f"{record.chance(num_classes, decision):.4f}"
        title = f"{record.title}, before calibration" if name in found.calibrated else record.title
        rows.append((name, *_cells(value, interval), better, chance, title))
    return rows


def _as_predicted(found: "Evaluation") -> list[tuple[str, ...]]:
    """What a user of `predict` meets: intervals, costs, calibrated posteriors and paradoxes."""
    from onepeak.metrics.catalog import METRICS

    figures = {**found.calibrated, "paradoxical": found.paradoxical}
    titles = {name: f"{METRICS[name].title}, calibrated" for name in _HEADLINES if name in found.calibrated}
    if "coverage" in found.calibrated:
        target = 1 - found.calibrated["alpha"]
        covered = f"Share of samples whose interval contains the true class; target {target:.4f}"
        titles = {"coverage": covered, "interval_size": "Mean number of classes in an interval", **titles}
    if found.cost is not None:
        figures["cost"] = found.cost
        titles["cost"] = "Mean cost per sample"
    titles["paradoxical"] = "Share of samples whose two most probable classes are not neighbours"
    sure = found.confidence
    intervals = {} if sure is None else {**sure.calibrated, "cost": sure.cost, "paradoxical": sure.paradoxical}
    return [(name, *_cells(figures[name], intervals.get(name)), title) for name, title in titles.items()]


def _cells(value: float, interval: "Interval | None") -> tuple[str, str]:
    """A figure and its confidence interval."""
    text = f"{value:.4f}" if math.isfinite(value) else "not defined"
    return text, "" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}"


def _by_class(classes: tuple[str, ...], found: "Evaluation") -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """For each class its items, how many are right, and its intervals; with few classes, what each was taken for."""
    given = classes if len(classes) <= _MOST_COLUMNS else ()
    intervals = found.intervals_by_class
    rows = []
    for place, (name, count, row) in enumerate(zip(classes, found.class_counts, found.confusion, strict=True)):
        within = () if intervals is None else tuple(map(_two_digits, intervals[place]))
        rows.append((name, f"{count:,}", f"{row[place]:,}", *within, *(f"{number:,}" for number in row[: len(given)])))
    about_intervals = () if intervals is None else ("covered", "interval")
    return ("class", "samples", "correct", *about_intervals, *(f"predicted {name}" for name in given)), rows


def _two_digits(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"


def _show(classes: tuple[str, ...], found: "Evaluation", *, decision: str) -> None:
    header = ("metric", "value", _CONFIDENCE, "better", "chance", "what it is")
    print_table(header, _headlines(len(classes), found, decision=decision))
    typer.echo()
    print_table(("as predicted", "value", _CONFIDENCE, "what it is"), _as_predicted(found))
    typer.echo()
    print_table(*_by_class(classes, found))
