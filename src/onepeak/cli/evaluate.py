"""`onepeak evaluate`: how good a trained model is on data."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from onepeak.cli import options
from onepeak.cli.output import print_json, print_note, print_notes, print_table, spinner

if TYPE_CHECKING:  # the packages behind these are loaded when the command runs, so that --help is fast
    from onepeak.metrics.bootstrap import Interval
    from onepeak.serving.evaluation import Evaluation
    from onepeak.serving.importance import ColumnImportance
    from onepeak.serving.model import Model

_MOST_COLUMNS = 8
"""Of a table of what was given to which class; --json has it whole."""
_MOST_FAILED = 5
_HEADLINES = ("mae", "accuracy", "accuracy_within_1", "soi_predicted", "unimodal", "qwk", "rps", "nll", "ece")
"""What most people want to know: error, order, the posteriors. --json has every metric."""
_AS_MEASURED = ("confusion", "metrics", "calibrated", "paradoxical", "noticeably_paradoxical", "notes")
"""What JSON has as `Evaluation` has it."""
_CONFIDENCE = "95 % confidence"
"""The column of confidence intervals: not of the model's intervals of classes."""


@options.with_flags(source=options.LABELLED | options.only("subgroup", "skip_bad"), posterior=options.POSTERIOR)
def evaluate(
    model: Path,
    data: str,
    source: dict[str, Any],
    posterior: dict[str, Any],
    part: str | None = None,
    device: str = "auto",
    batch_size: int | None = None,
    combine: Literal["worst", "mean", "median"] | None = None,
    importance: Annotated[
        bool, options.flag("Output", "--importance", "For a table: what the predictions rest on, column by column.")
    ] = False,
    as_json: Annotated[bool, options.flag("Output", "--json", "Print every metric and count as JSON.")] = False,
) -> None:
    """Evaluates a trained model on labelled data: error, consistency, posteriors, intervals and each class.

    The class order and the columns default to those of the training data. Reports how many samples the model was
    trained on; on the training data, --part test leaves them out. --json prints every metric.

    The 95 % confidence interval shows how much a figure may vary because the sample is small. It resamples whole
    groups: if a patient has several samples, name the patient column with --group. With --combine all figures but those
    of subgroups and columns are of one prediction per patient.

    With --importance, the rise of a column is how much the mean absolute error grows if its values are shuffled, and
    its effect is how the probability of the higher classes moves as all rows get the same value.

    Example: onepeak evaluate model biopsies --part test
    """
    from onepeak._core.wording import counted
    from onepeak.data.source import DataSource
    from onepeak.serving import load
    from onepeak.serving.evaluation import evaluate as measured
    from onepeak.serving.evaluation_data import held_out, open_for
    from onepeak.serving.importance import column_importance
    from onepeak.serving.model import model_folder

    loaded = load(model, device=device)
    manifest = open_for(loaded, DataSource(data, **source))
    if part is not None:
        manifest = held_out(manifest, loaded, model_folder(model), part)  # type: ignore[arg-type]
    columns: tuple[ColumnImportance, ...] = ()
    if importance:
        with spinner("Shuffling columns"):
            columns = column_importance(loaded, manifest, options=loaded.posterior_options(**posterior))
    with spinner(f"Predicting {len(manifest):,} samples"):
        skip_bad = source.get("skip_bad", False)
        found = measured(
            loaded, manifest, batch_size=batch_size, skip_bad=skip_bad, combine=combine, confidence=True, **posterior
        )
    if as_json:
        _warn(found, part)
        rests_on = {"importance": [asdict(each) for each in columns]} if importance else {}
        print_json(_record(loaded, manifest.name, part, found) | rests_on)
        return
    classes, method = len(loaded.classes), loaded.description.method
    print_note(f"{manifest.name}: {counted(len(found.labels), found.unit)}, {classes} classes; method {method}")
    print_notes(found.notes)
    for row in found.failed[:_MOST_FAILED]:
        print_note(f"Left out: {row.source}: {row.error}")
    if len(found.failed) > _MOST_FAILED:
        print_note(f"... and {len(found.failed) - _MOST_FAILED:,} more left out (--json shows all).")
    _warn(found, part)
    header = ("metric", "value", _CONFIDENCE, "better", "chance", "what it is")
    print_table(header, _headlines(found, classes, decision=loaded.network.method.decision))
    typer.echo()
    print_table(("as predicted", "value", _CONFIDENCE, "what it is"), _as_predicted(found))
    typer.echo()
    print_table(*_by_class(loaded.classes, found))
    for column, figures in found.subgroups.items():
        typer.echo()
        shown = [(name, each["samples"], each["accuracy"], each["mae"]) for name, each in figures.items()]
        rows = [(name, f"{count:,}", f"{accuracy:.1%}", f"{mae:.4f}") for name, count, accuracy, mae in shown]
        print_table((column, "samples", "accuracy", "mae"), rows)
    if (against := found.label_distribution) is not None:
        typer.echo()
        print_note(
            f"Against the distribution of labels: expected MAE {against['expected_mae']:.4f}, "
            f"RPS {against['rps']:.4f}. All other figures are against its median."
        )
        if "raters" in against:
            print_table(*_by_rater(against["raters"]))
    if importance:
        typer.echo()
        print_table(("column", "rise of MAE", "effect"), [_column(each, loaded.classes) for each in columns])
    print_note(f"--json prints all {len(found.metrics)} metrics. Next: onepeak inspect {model} --data {data}")


def _warn(found: "Evaluation", part: str | None) -> None:
    from onepeak._core.wording import counted

    if not found.num_trained_on:
        return
    seen = f"{found.num_trained_on:,} of these {counted(len(found.labels), found.unit)}"
    if part is None:
        print_note(
            f"Warning: the model was trained on {seen}: these figures do not show how it does on new data. "
            "--part test uses only samples held out of training."
        )
    else:
        print_note(f"Note: the model was trained on copies of {seen}.")


def _record(model: "Model", name: str, part: str | None, found: "Evaluation") -> dict[str, object]:
    """All that was measured; a metric that is not defined is null."""
    from onepeak.metrics.catalog import METRICS
    from onepeak.serving.confidence import LEVEL

    num_classes, decision = len(model.classes), model.network.method.decision
    cost = {} if found.cost is None else {"cost": found.cost}
    confidence = None
    if found.confidence is not None:
        sure = asdict(found.confidence)
        count = {"resampled": f"{sure['unit']}s", "count": sure["num_units"], "resamples": sure["num_resamples"]}
        intervals = {key: sure[key] for key in ("metrics", "calibrated", "paradoxical", *cost)}
        confidence = {"level": LEVEL, **count, **intervals}
    return {
        "dataset": name,
        "part": part,
        "method": model.description.method,
        "items": len(found.labels),
        "trained_on": found.num_trained_on,
        "classes": dict(zip(model.classes, found.class_counts, strict=True)),
        "intervals_by_class": _intervals_by_class(model.classes, found),
        **{name: getattr(found, name) for name in _AS_MEASURED},
        **({"subgroups": found.subgroups} if found.subgroups else {}),
        **cost,
        **({} if found.label_distribution is None else {"label_distribution": found.label_distribution}),
        "confidence": confidence,
        "chance": {each.name: each.chance(num_classes, decision) for each in METRICS if each.chance is not None},
        "failed": [{"path": row.source, "error": row.error} for row in found.failed],
    }


def _intervals_by_class(classes: tuple[str, ...], found: "Evaluation") -> dict[str, dict[str, float] | None] | None:
    """The coverage and mean size of the intervals of each class; null for a class without samples."""
    if found.intervals_by_class is None:
        return None
    return {
        name: None if math.isnan(coverage) else {"coverage": coverage, "interval_size": size}
        for name, (coverage, size) in zip(classes, found.intervals_by_class, strict=True)
    }


def _headlines(found: "Evaluation", num_classes: int, *, decision: str) -> list[tuple[str, ...]]:
    """The headline metrics, those of posteriors before calibration."""
    from onepeak.metrics.catalog import METRICS

    rows: list[tuple[str, ...]] = []
    for name in _HEADLINES:
        record = METRICS[name]
        interval = None if found.confidence is None else found.confidence.metrics[name]
        better = "higher" if record.higher_is_better else "lower"
        chance = "" if record.chance is None else f"{record.chance(num_classes, decision):.4f}"
        title = f"{record.title}, before calibration" if name in found.calibrated else record.title
        rows.append((name, *_cells(found.metrics[name], interval), better, chance, title))
    return rows


def _as_predicted(found: "Evaluation") -> list[tuple[str, ...]]:
    """What a user of `predict` meets: intervals, costs, calibrated posteriors and paradoxes."""
    from onepeak.metrics.catalog import METRICS

    figures = {**found.calibrated, "cost": found.cost, "paradoxical": found.paradoxical}
    figures["noticeably_paradoxical"] = found.noticeably_paradoxical
    titles = {
        "coverage": f"Share of {found.unit}s whose interval contains the true class; target "
        f"{1 - found.calibrated.get('alpha', 0):.4f}",
        "interval_size": "Mean number of classes in an interval",
        **{name: f"{METRICS[name].title}, calibrated" for name in _HEADLINES if name in found.calibrated},
        "cost": f"Mean cost per {found.unit}",
        "paradoxical": f"Share of {found.unit}s whose two most probable classes are not neighbours",
        "noticeably_paradoxical": "The same where the second class has a probability of at least 5 %",
    }
    sure = found.confidence
    intervals = {} if sure is None else {**sure.calibrated, "cost": sure.cost, "paradoxical": sure.paradoxical}
    return [
        (name, *_cells(value, intervals.get(name)), title)
        for name, title in titles.items()
        if (value := figures.get(name)) is not None
    ]


def _cells(value: float, interval: "Interval | None") -> tuple[str, str]:
    """A figure and its confidence interval."""
    text = f"{value:.4f}" if math.isfinite(value) else "not defined"
    return text, "" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}"


def _column(found: "ColumnImportance", classes: tuple[str, ...]) -> tuple[str, ...]:
    """How much a column matters, and what it does to the probability that it moves most."""
    effect, cut = "", found.strongest_cut()
    if cut is not None:
        shown = (value if isinstance(value, str) else f"{value:.4g}" for value in found.values)
        pairs = (f"{above[cut]:.2f} at {value}" for value, above in zip(shown, found.above, strict=True))
        effect = f"P(above {classes[cut]}): {', '.join(pairs)}"
    return found.column, f"{found.rise:.4f} +- {found.deviation:.4f}", effect


def _by_class(classes: tuple[str, ...], found: "Evaluation") -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """For each class its samples, how many are right, its intervals; with few classes, what each was taken for."""
    given = classes if len(classes) <= _MOST_COLUMNS else ()
    intervals = found.intervals_by_class
    rows = []
    for label, (name, count, row) in enumerate(zip(classes, found.class_counts, found.confusion, strict=True)):
        shares = () if intervals is None else intervals[label]
        within = ("" if math.isnan(share) else f"{share:.2f}" for share in shares)
        rows.append((name, f"{count:,}", f"{row[label]:,}", *within, *(f"{number:,}" for number in row[: len(given)])))
    about_intervals = () if intervals is None else ("covered", "interval")
    return ("class", f"{found.unit}s", "correct", *about_intervals, *(f"predicted {name}" for name in given)), rows


def _by_rater(raters: dict[str, dict[str, float]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """How well the model agrees with each rater, beside how well the other raters do."""
    header = ("rater", "samples", "QWK of the model", "QWK of other raters", "model agrees", "other raters agree")
    rows = [
        (name, f"{each['samples']:,}", *(f"{each[key]:.3f}" for key in ("model_qwk", "raters_qwk")),
         *(f"{each[key]:.1%}" for key in ("model_accuracy", "raters_accuracy")))
        for name, each in raters.items()
    ]  # fmt: skip
    return header, rows
