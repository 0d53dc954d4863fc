"""`onepeak splits`: the parts of every split, and what leaks between them."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onepeak.cli import options
from onepeak.cli.options import flag
from onepeak.cli.output import print_json, print_note, print_notes, print_table, spinner

if TYPE_CHECKING:  # the packages behind these are loaded when the command runs, so that --help is fast
    from onepeak.data.manifest import Manifest
    from onepeak.data.splits import Leak, Split

_MOST_ROWS = 20
PLAN: options.Flags = options.only("protocol", "splits", "folds") | options.flags(
    "Data", seed=(int, "Random seed (default: 0).")
)


@options.with_flags(source=options.SOURCE, plan=PLAN)
def splits(
    data: str,
    source: dict[str, Any],
    plan: dict[str, Any],
    out: Annotated[Path | None, flag("Output", "--out", "File to save the splits to (.csv or .json).")] = None,
    as_json: Annotated[
        bool, flag("Output", "--json", "Print sizes, classes, groups and leaks of every run as JSON.")
    ] = False,
) -> None:
    """Splits data and shows part sizes, classes, groups, leaks, and copies with different labels.

    Example: onepeak splits biopsies --protocol holdout --out splits.csv
    """
    from onepeak.data.manifest import ImageFiles
    from onepeak.data.source import DataSource
    from onepeak.data.splits import find_leaks, item_digests, make_splits, save_splits
    from onepeak.data.splits import split_notes as notes_of
    from onepeak.data.splits.copies import conflict_notes

    manifest = DataSource(data, **source).open()
    with spinner(f"Reading {len(manifest):,} samples to find copies", quiet=as_json):
        digests = item_digests(manifest.items)
    if isinstance(manifest.items, ImageFiles):
        manifest = replace(manifest, items=replace(manifest.items, digests=digests))
    runs = make_splits(manifest, **plan)
    if out is not None:
        save_splits(runs, manifest, out)
    leaks = [find_leaks(manifest, run, digests=digests) for run in runs]
    notes = [*manifest.notes, *notes_of(manifest, runs), *conflict_notes(manifest, digests)]
    if as_json:
        about = {"protocol": runs[0].protocol, "seed": runs[0].seed, "notes": notes}
        about |= {"conflicts": _conflicts(manifest, digests), "runs": _records(manifest, runs, leaks)}
        print_json({"dataset": manifest.name, "items": len(manifest), "classes": manifest.classes, **about})
        return
    _show(manifest, runs, leaks)
    print_notes(notes)
    first = next((index for index, found in enumerate(leaks) if found), None)
    if first is not None:
        for leak in leaks[first]:
            print_note(f"{'Leak' if leak.harmful else 'Note'} in {runs[first].name}: {leak}")
    if any(leak.harmful for found in leaks for leak in found):
        print_note("Training on a leaking split is refused unless --allow-leak is given.")
    train = f"onepeak train {data} --protocol {out or 'splits.csv'}"
    print_note(f"Saved to {out}. Next: {train}" if out else f"Next: the same with --out splits.csv, then {train}")


def _conflicts(manifest: "Manifest", digests: "Sequence[str]") -> list[dict[str, object]]:
    from onepeak.data.splits import conflicting_duplicates

    found = conflicting_duplicates(manifest, digests)
    return [{"items": each.items, "names": each.names, "labels": each.labels} for each in found]


def _records(manifest: "Manifest", runs: "Sequence[Split]", leaks: "Sequence[list[Leak]]") -> list[dict[str, object]]:
    """Everything the tables show, for every run, and which groups are in each part."""
    from onepeak.data.splits import class_counts, group_counts
    from onepeak.data.splits.split import group_names

    return [
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
    ]


def _show(manifest: "Manifest", runs: "Sequence[Split]", leaks: "Sequence[list[Leak]]") -> None:
    """How many samples, and groups where there are some, each part of each run has, what leaks, and the classes."""
    from onepeak._core.wording import counted
    from onepeak.data.splits import PARTS, class_counts, group_counts

    print_note(
        f"{manifest.name}: {counted(len(manifest), 'sample')}, {manifest.num_classes} classes; "
        f"protocol {runs[0].protocol}, seed {runs[0].seed}, {counted(len(runs), 'run')}"
    )
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
    typer.echo()
    rows, counts = [], [class_counts(manifest, run) for run in runs]
    for label, name in enumerate(manifest.classes):
        in_parts = [sorted(count[part][label] for count in counts) for part in PARTS]
        ranges = (f"{each[0]:,}" if each[0] == each[-1] else f"{each[0]:,}-{each[-1]:,}" for each in in_parts)
        rows.append((name, f"{int((manifest.labels == label).sum()):,}", *ranges))
    print_table(("class", "samples", *PARTS), rows, title="Samples of each class, over the runs")
