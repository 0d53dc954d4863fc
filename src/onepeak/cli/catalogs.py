"""`onepeak methods`, `metrics` and `datasets`: what onepeak knows by name."""

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from onepeak.cli.options import flag, with_flags
from onepeak.cli.output import print_json, print_note, print_notes, print_table
from onepeak.errors import InputError

if TYPE_CHECKING:  # torch comes when the command runs
    from onepeak.data.datasets import Dataset
    from onepeak.methods.record import AdditionRecord, MethodRecord
    from onepeak.metrics.catalog import MetricRecord

AsJson = Annotated[bool, flag("Output", "--json", "Print the records as JSON.")]


@with_flags()
def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Method to show with its settings: elb, mv+elb, smooth-elb.")
    ] = None,
    family: Annotated[
        str | None,
        flag("Output", "--family", "Only this family: plain, distance, soft-labels, levels, distribution, constraint."),
    ] = None,
    unimodal: Annotated[
        bool | None,
        flag("Output", "--unimodal/--not-unimodal", "Only methods with, or without, one peak by construction."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lists all methods and whether their posteriors have one peak by construction, or shows one with its settings.

    The suffix +elb or +pn adds a constraint to any method with class scores: mv+elb, ld+pn. The prefix smooth- averages
    neighbouring outputs of any method with one output per class or level: smooth-elb, smooth-rps+elb.

    Example: onepeak methods elb
    """
    import onepeak
    from onepeak._core.check import check_choice
    from onepeak.methods.catalog import CONSTRAINTS, FEATURE_TERMS, SMOOTH
    from onepeak.methods.record import Family

    if name is not None:
        if family is not None or unimodal is not None:
            raise InputError(f"`--family` and `--unimodal` are for the list of all: leave them out with {name!r}.")
        _show_method(name, as_json=as_json)
        return
    if family is not None:
        check_choice("--family", family, get_args(Family))
    records = [
        record
        for record in onepeak.methods()
        if family in (None, record.family) and unimodal in (None, record.unimodal)
    ]
    if as_json:
        print_json([_method(record) for record in records])
        return
    print_table(
        ("name", "title", "family", "always one peak"),
        [(record.name, record.title, record.family, "yes" if record.unimodal else "no") for record in records],
    )
    constraints, terms = (
        ", ".join(f"+{record.name} ({record.title})" for record in catalog) for catalog in (CONSTRAINTS, FEATURE_TERMS)
    )
    print_note("Add a prefix, a suffix or both, as in smooth-rps+elb:")
    print_note(f"  {SMOOTH}   for any method with one output per class or level: averages neighbouring outputs")
    print_note(f"  +...      for any method with class scores: {constraints}")
    print_note(f"  +...      for any method, in training only: {terms}")
    print_note("Next: onepeak methods NAME, for its settings and reference")


def _show_method(name: str, *, as_json: bool) -> None:
    """One method, put together or not, as rows of what is known of it."""
    from onepeak.methods.catalog import SMOOTH, method, parts_of

    parts = parts_of(name)
    method(name, num_classes=2)  # refuses what does not go together
    record = _method(parts.record) | {"name": name}
    if parts.added:
        owners: list[MethodRecord | AdditionRecord] = [parts.record, *parts.added]
        defaults = [setting for each in owners for setting in each.defaults.items()]
        times = Counter(key for key, _ in defaults)  # a key of two owners is no setting of either
        record["settings"] = {key: value for key, value in defaults if times[key] == 1}
        record["title"] = ", ".join(each.title for each in owners)
    if parts.smooth:
        record["title"] += f", neighbouring outputs averaged ({SMOOTH})"
    if as_json:
        print_json(record)
        return
    settings = {
        key: str(value).lower() if isinstance(value, bool) else value for key, value in record["settings"].items()
    }
    rows = [
        ("title", record["title"]),
        ("family", record["family"]),
        ("reference", record["reference"]),
        ("outputs for c classes", record["num_outputs"]),
        ("one peak by construction", "yes" if record["unimodal"] else "no"),
        ("variants", ", ".join(record["variants"])),
        *((f"setting {key}", str(value)) for key, value in settings.items()),
    ]
    print_table(("name", name), rows)
    if not settings:
        print_note(f"{name} has no settings.")
        return
    given = "{}={}".format(*next(iter(settings.items())))
    print_note(
        f"Use train --method {name}:{given} or compare --methods ce,{name}:{given}; add more with further colons."
    )


def _method(record: "MethodRecord") -> dict[str, Any]:
    """What is known of a method, in values of JSON."""
    names = ("name", "title", "family", "reference", "year", "num_outputs", "unimodal", "as_published")
    variants = ["corrected"] if record.as_published == "none" else ["corrected", "as_published"]
    return {name: getattr(record, name) for name in names} | {"variants": variants, "settings": record.defaults}


@with_flags()
def metrics(
    default: Annotated[
        bool | None,
        flag("Output", "--default/--further", "Only the metrics that training computes, or only the others."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lists all metrics: key in the results, title, direction and range.

    Training computes the default metrics and the one that selects the epoch; evaluate computes all.

    Example: onepeak metrics --default
    """
    from onepeak.metrics.catalog import METRICS

    records = [record for record in METRICS if default in (None, record.default)]
    if as_json:
        names = ("name", "title", "higher_is_better", "low", "needs", "default", "reference")
        print_json([{name: getattr(record, name) for name in names} | {"high": _high(record)} for record in records])
        return
    rows = [
        (
            record.name,
            record.title,
            "higher" if record.higher_is_better else "lower",
            f"{record.low:g} to {high if isinstance(high := _high(record), str) else f'{high:g}'}",
            "yes" if record.default else "no",
        )
        for record in records
    ]
    print_table(("name", "title", "better", "range", "default"), rows)
    print_note("c is the number of classes. --json adds references. Next: onepeak evaluate MODEL DATA --json")


def _high(record: "MetricRecord") -> float | str:
    """The upper end, in words where it depends on the number of classes or there is none."""
    return "c - 1" if record.high is None else "infinity" if math.isinf(record.high) else record.high


@with_flags()
def datasets(
    name: Annotated[str | None, typer.Argument(help="Data set to show (default: all).", show_default=False)] = None,
    root: Annotated[
        Path | None,
        flag("Data", "--root", "Folder of the data set: compares its contents with what the set should hold."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lists the data sets onepeak knows by name and how to obtain them, or checks one on this disk.

    Example: onepeak datasets biopsies
    """
    from onepeak.data.datasets import DATASETS
    from onepeak.data.order import shown_order

    if name is None:
        if root is not None:
            raise InputError("`--root` needs the name of a data set: onepeak datasets NAME --root FOLDER.")
        if as_json:
            print_json([_dataset(record) for record in DATASETS])
            return
        records = [
            (each.name, each.title, str(len(each.classes)), f"{each.num_items:,}", each.obtain) for each in DATASETS
        ]
        print_table(("name", "title", "classes", "images", "how to obtain"), records)
        print_note("Next: onepeak datasets NAME; or onepeak train biopsies, which needs no files")
        return
    record = DATASETS[name]
    if root is not None:
        _show_found(record, root, as_json=as_json)
    elif as_json:
        print_json(_dataset(record))
    else:
        about = _dataset(record) | {"classes": shown_order(record.classes), "images": f"{record.num_items:,}"}
        for what in ("name", "title", "classes", "images", "layout", "obtain", "terms", "reference"):
            typer.echo(f"{what:<10} {about[what]}")
        where = "" if record.read is None else " --root FOLDER"
        print_note(f"Next: onepeak train {name}{where}")


def _show_found(record: "Dataset", root: Path, *, as_json: bool) -> None:
    import numpy as np

    manifest = record.open(root)
    counts: list[int] = np.bincount(manifest.labels, minlength=manifest.num_classes).tolist()
    if as_json:
        found = {
            "images": len(manifest),
            "classes": dict(zip(manifest.classes, counts, strict=True)),
            "groups": None if manifest.groups is None else len(set(manifest.groups)),
            "notes": manifest.notes,
        }
        print_json({**_dataset(record), "found": found})
        return
    expected = "?" if record.num_per_class is None else f"{record.num_per_class:,}"
    rows = [(name, f"{count:,}", expected) for name, count in zip(manifest.classes, counts, strict=True)]
    print_table(("class", "found", "should be"), [*rows, ("all", f"{len(manifest):,}", f"{record.num_items:,}")])
    print_notes(manifest.notes)


def _dataset(record: "Dataset") -> dict[str, Any]:
    """What is known of a data set, in values of JSON."""
    renamed = {"num_items": "images", "num_per_class": "images_per_class", "num_groups": "groups"}
    names = ("name", "title", "classes", *renamed, "layout", "obtain", "terms", "reference")
    return {renamed.get(name, name): getattr(record, name) for name in names}
