"""`onepeak datasets`: the known data sets, and what one holds on this disk."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onepeak.cli import options
from onepeak.cli.output import print_note, print_notes, print_table
from onepeak.errors import InputError

if TYPE_CHECKING:
    from onepeak.data.datasets import Dataset
    from onepeak.data.manifest import Manifest


def datasets(
    name: Annotated[str | None, typer.Argument(help="Data set to show (default: all).", show_default=False)] = None,
    root: Annotated[
        Path | None,
        options.path_flag(
            "Data", "--root", "Folder of the data set: compares its contents with what the set should hold."
        ),
    ] = None,
    as_json: Annotated[bool, options.switch("Output", "--json", "Print the records as JSON.")] = False,
) -> None:
    """Lists the data sets onepeak knows by name and how to obtain them, or checks one on this disk.

    Example: onepeak datasets biopsies
    """
    from onepeak.data.datasets import DATASETS

    if name is None:
        if root is not None:
            raise InputError("`--root` needs the name of a data set: onepeak datasets NAME --root FOLDER.")
        _print_all(list(DATASETS), as_json=as_json)
    elif root is None:
        _print_one(DATASETS[name], as_json=as_json)
    else:
        _print_found(DATASETS[name], DATASETS[name].open(root), as_json=as_json)


def _print_all(records: "list[Dataset]", *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([_as_dict(record) for record in records], indent=2))
        return
    header = ("name", "title", "classes", "images", "how to obtain")
    rows = [
        (record.name, record.title, str(len(record.classes)), f"{record.num_items:,}", record.obtain)
        for record in records
    ]
    print_table(header, rows)
    print_note("Next: onepeak datasets NAME; or onepeak train biopsies, which needs no files")


def _print_one(record: "Dataset", *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(_as_dict(record), indent=2))
        return
    from onepeak.data.order import shown_order

    for what, value in (
        ("name", record.name),
        ("title", record.title),
        ("classes", shown_order(record.classes)),
        ("images", f"{record.num_items:,}"),
        ("layout", record.layout),
        ("obtain", record.obtain),
        ("terms", record.terms),
        ("reference", record.reference),
    ):
        typer.echo(f"{what:<10} {value}")


def _print_found(record: "Dataset", manifest: "Manifest", *, as_json: bool) -> None:
    import numpy as np

    counts: list[int] = np.bincount(manifest.labels, minlength=manifest.num_classes).tolist()
    if as_json:
        found = {
            "images": len(manifest),
            "classes": dict(zip(manifest.classes, counts, strict=True)),
            "groups": None if manifest.groups is None else len(set(manifest.groups)),
            "notes": manifest.notes,
        }
        typer.echo(json.dumps({**_as_dict(record), "found": found}, indent=2))
        return
    expected = "?" if record.num_per_class is None else f"{record.num_per_class:,}"
    rows = [(name, f"{count:,}", expected) for name, count in zip(manifest.classes, counts, strict=True)]
    print_table(("class", "found", "should be"), [*rows, ("all", f"{len(manifest):,}", f"{record.num_items:,}")])
    print_notes(manifest.notes)


def _as_dict(record: "Dataset") -> dict[str, object]:
    """What can be written down: everything but the functions that read."""
    return {
        "name": record.name,
        "title": record.title,
        "classes": record.classes,
        "images": record.num_items,
        "images_per_class": record.num_per_class,
        "groups": record.num_groups,
        "layout": record.layout,
        "obtain": record.obtain,
        "terms": record.terms,
        "reference": record.reference,
    }
