"""`onepeak evaluate`: how good a trained model is on data."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:  # the packages behind these are loaded when the command runs, so that --help is fast
    from onepeak.serving.evaluation import Evaluation
    from onepeak.serving.model import Model

_MOST_FAILED = 5


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model's folder, as onepeak train --out makes it.")],
    data: Annotated[str, typer.Argument(help="A known data set, a folder with a folder per class, or a CSV.")],
    root: Annotated[Path | None, typer.Option(help="Where the known data set, or the CSV's pictures, lie.")] = None,
    order: Annotated[
        str | None, typer.Option(help="The classes, lowest first: a,b,c or 0..69; the model's if left out.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="The column of labels.")] = None,
    group: Annotated[str | None, typer.Option(help="The column of groups, which is then no feature.")] = None,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Most samples at once; 32 pictures or 4096 rows if left out.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print metrics and counts as JSON.")] = False,
) -> None:
    """Measures a trained model on data whose labels are known: every metric, with the way that is better.

    Example: onepeak evaluate model newscans/
    """
    from rich.console import Console

    from onepeak.serving import load
    from onepeak.serving.evaluation import evaluate as measured
    from onepeak.serving.evaluation import open_for

    loaded = load(model, device=device)
    manifest = open_for(loaded, data, root=root, order=order, label=label, group=group)
    with Console(stderr=True).status(f"Predicting {len(manifest):,} items"):
        found = measured(loaded, manifest, batch_size=batch_size)
    if as_json:
        typer.echo(json.dumps(_record(loaded, manifest.name, found), indent=2, allow_nan=False))
    else:
        _show(loaded, manifest.name, found)


def _record(model: "Model", name: str, found: "Evaluation") -> dict[str, object]:
    """Everything the tables show; a metric that is not defined is null."""
    from onepeak.metrics.catalog import METRICS

    num_classes = len(model.classes)
    return {
        "dataset": name,
        "method": model.description.method,
        "items": len(found.labels),
        "classes": dict(zip(model.classes, found.class_counts, strict=True)),
        "metrics": {name: value if math.isfinite(value) else None for name, value in found.metrics.items()},
        "chance": {record.name: record.chance(num_classes) for record in METRICS if record.chance is not None},
        "failed": [{"path": row.source, "error": row.error} for row in found.failed],
        "notes": list(found.notes),
    }


def _show(model: "Model", name: str, found: "Evaluation") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from onepeak.metrics.catalog import METRICS

    num_classes = len(model.classes)
    console = Console(highlight=False)
    console.print(
        f"{name}: {len(found.labels):,} items, {num_classes} classes; method {model.description.method}", markup=False
    )
    table = Table("metric", "value", "better", "chance", "what it is")
    for record in METRICS:
        value = found.metrics[record.name]
        chance = "" if record.chance is None else f"{record.chance(num_classes):.4f}"
        better = "higher" if record.higher_is_better else "lower"
        shown = f"{value:.4f}" if math.isfinite(value) else "not defined"
        table.add_row(record.name, shown, better, chance, record.title)
    console.print(table)
    counts = Table("class", "items")
    for each, count in zip(model.classes, found.class_counts, strict=True):
        counts.add_row(Text(each), f"{count:,}")
    console.print(counts)
    for note in found.notes:
        console.print(f"Note: {note}", markup=False, soft_wrap=True)
    for row in found.failed[:_MOST_FAILED]:
        console.print(f"Left out: {row.source}: {row.error}", markup=False, soft_wrap=True)
    if len(found.failed) > _MOST_FAILED:
        console.print(f"... and {len(found.failed) - _MOST_FAILED:,} more left out (--json shows all).")
