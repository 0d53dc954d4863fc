"""`onepeak splits`: the parts of every split, and what leaks between them."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onepeak.cli import options
from onepeak.cli.options import flag, path_flag, switch
from onepeak.cli.output import print_note, print_notes, print_table

if TYPE_CHECKING:  # the packages behind these are loaded when the command runs, so that --help is fast
    from onepeak.data.manifest import Manifest
    from onepeak.data.splits import Conflict, Leak, Split

_MOST_ROWS = 20
_MOST_CONFLICTS = 5


@options.with_flags(source=options.SOURCE)
def splits(
    data: options.Data,
    source: dict[str, Any],
    protocol: options.Protocol = "auto",
    num_splits: options.Splits = None,
    num_folds: options.Folds = None,
    seed: Annotated[int, flag("Data", "--seed", "Random seed.")] = 0,
    out: Annotated[Path | None, path_flag("Output", "--out", "File to save the splits to (.csv or .json).")] = None,
    as_json: Annotated[
        bool, switch("Output", "--json", "Print sizes, classes, groups and leaks of every run as JSON.")
    ] = False,
) -> None:
    """Splits data and shows part sizes, classes, groups, leaks, and copies with different labels.

    Example: onepeak splits biopsies --protocol holdout --out splits.csv
    """
    from dataclasses import replace

    from rich.console import Console

    from onepeak.data.manifest import ImageFiles
    from onepeak.data.source import DataSource
    from onepeak.data.splits import conflicting_duplicates, find_leaks, item_digests, make_splits, save_splits

    manifest = DataSource(data, **source).open()
    with Console(stderr=True).status(f"Reading {len(manifest):,} samples to find copies"):
        digests = item_digests(manifest.items)
    if isinstance(manifest.items, ImageFiles):
        manifest = replace(manifest, items=replace(manifest.items, digests=digests))
    runs = make_splits(manifest, protocol=protocol, splits=num_splits, folds=num_folds, seed=seed)
    if out is not None:
        save_splits(runs, manifest, out)
    leaks = [find_leaks(manifest, run, digests=digests) for run in runs]
    conflicts = conflicting_duplicates(manifest, digests)
    if as_json:
        typer.echo(json.dumps(_record(manifest, runs, leaks, conflicts), indent=2))
    else:
        _show(manifest, runs, leaks, conflicts)
        if out is not None:
            print_note(f"Saved to {out}. Next: onepeak train {data} --protocol {out}")


def _record(
    manifest: "Manifest", runs: "Sequence[Split]", leaks: "Sequence[list[Leak]]", conflicts: "Sequence[Conflict]"
) -> dict[str, object]:
    """Everything the tables show, for every run, and which groups are in each part."""
    from dataclasses import asdict

    from onepeak.data.splits import class_counts, group_counts, split_notes
    from onepeak.data.splits.split import group_names

    return {
        "dataset": manifest.name,
        "items": len(manifest),
        "classes": manifest.classes,
        "protocol": runs[0].protocol,
        "seed": runs[0].seed,
        "notes": [*manifest.notes, *split_notes(manifest, runs)],
        "conflicts": [asdict(conflict) for conflict in conflicts],
        "runs": [
            {
                "split": run.split,
                "fold": run.fold,
                "sizes": run.sizes,
                "groups": group_counts(manifest, run),
                "group_names": group_names(manifest, run),
                "class_counts": {part: counts.tolist() for part, counts in class_counts(manifest, run).items()},
                "leaks": [{**asdict(leak), "harmful": leak.harmful} for leak in found],
            }
            for run, found in zip(runs, leaks, strict=True)
        ],
    }


def _show(
    manifest: "Manifest", runs: "Sequence[Split]", leaks: "Sequence[list[Leak]]", conflicts: "Sequence[Conflict]"
) -> None:
    from onepeak._core.wording import counted
    from onepeak.data.splits import split_notes

    print_note(
        f"{manifest.name}: {counted(len(manifest), 'sample')}, {manifest.num_classes} classes; "
        f"protocol {runs[0].protocol}, seed {runs[0].seed}, {counted(len(runs), 'run')}"
    )
    _print_parts(manifest, runs, leaks)
    typer.echo()
    _print_classes(manifest, runs)
    print_notes([*manifest.notes, *split_notes(manifest, runs)])
    for conflict in conflicts[:_MOST_CONFLICTS]:
        print_note(f"Exact copies with different labels: {conflict}")
    if len(conflicts) > _MOST_CONFLICTS:
        print_note(f"... and {len(conflicts) - _MOST_CONFLICTS} more such copies (--json shows all).")
    first = next((index for index, found in enumerate(leaks) if found), None)
    if first is not None:
        for leak in leaks[first]:
            word = "Leak" if leak.harmful else "Note"
            print_note(f"{word} in {runs[first].name}: {leak}")
    if any(leak.harmful for found in leaks for leak in found):
        print_note("Training on a leaking split is refused unless --allow-leak is given.")


def _print_parts(manifest: "Manifest", runs: "Sequence[Split]", leaks: "Sequence[list[Leak]]") -> None:
    """How many samples, and groups where there are some, each part of each run has, and what leaks."""
    from onepeak.data.splits import PARTS, group_counts

    grouped = manifest.groups is not None
    none = "none" if grouped else "none by content; no groups given"
    rows = []
    for run, found in zip(runs, leaks, strict=True):
        groups = group_counts(manifest, run)
        sizes = [f"{size:,}" + (f" ({groups[part]:,})" if groups else "") for part, size in run.sizes.items()]
        kinds = sorted({f"same {leak.kind}" for leak in found if leak.harmful})
        rows.append((run.name, *sizes, ", ".join(kinds) or ("none; equal rows, see the note" if found else none)))
    most = _MOST_ROWS if sys.stdout.isatty() else len(rows)
    title = f"Samples{' (and groups)' if grouped else ''} in each part"
    print_table(("run", *PARTS, "leaks"), rows[:most], title=title)
    if len(rows) > most:
        print_note(f"... and {len(rows) - most} more runs (--json shows all).")


def _print_classes(manifest: "Manifest", runs: "Sequence[Split]") -> None:
    """How many samples of each class each part has: the fewest and the most over the runs."""
    from onepeak.data.splits import PARTS, class_counts

    rows = []
    counts = [class_counts(manifest, run) for run in runs]
    for label, name in enumerate(manifest.classes):
        ranges = [
            (min(count[part][label] for count in counts), max(count[part][label] for count in counts)) for part in PARTS
        ]
        held = int((manifest.labels == label).sum())
        rows.append((name, f"{held:,}", *(f"{low:,}" if low == high else f"{low:,}-{high:,}" for low, high in ranges)))
    print_table(("class", "samples", *PARTS), rows, title="Samples of each class, over the runs")
