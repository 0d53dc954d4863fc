"""`onepeak methods`: the catalog of methods, or one of them with its settings."""

import json
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from onepeak.cli.tables import print_note, print_table

if TYPE_CHECKING:  # torch comes when the command runs
    from onepeak.methods.record import MethodRecord


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One method, with its settings: elb, mv+elb, smooth-elb.")
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(
            "--family", help="Only one family: plain, distance, soft-labels, levels, distribution, constraint."
        ),
    ] = None,
    unimodal: Annotated[
        bool | None,
        typer.Option("--unimodal/--not-unimodal", help="Only those with one peak by construction, or only the others."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """Lists every method: its name, what it is, and whether its posterior has one peak by construction.

    With a name it shows that method: its settings with their defaults, and how they are given.

    A constraint can be put on any method with class scores: mv+elb, ld+pn. Neighbouring outputs of any method with one
    a class or level can learn together: smooth-elb, smooth-rps+elb.

    Example: onepeak methods elb
    """
    import onepeak
    from onepeak._check import check_choice
    from onepeak.errors import InputError
    from onepeak.methods.record import Family

    if name is not None:
        if family is not None or unimodal is not None:
            raise InputError(f"`--family` and `--unimodal` are for the list of all: leave them out with {name!r}.")
        _show_one(name, as_json=as_json)
        return
    if family is not None:
        check_choice("--family", family, get_args(Family))
    records = [
        record
        for record in onepeak.methods()
        if family in (None, record.family) and unimodal in (None, record.unimodal)
    ]
    if as_json:
        typer.echo(json.dumps([_told(record) for record in records], indent=2))
        return
    _show_all(records)


def _show_all(records: "list[MethodRecord]") -> None:
    from onepeak.methods.catalog import CONSTRAINTS, SMOOTH

    print_table(
        ("name", "title", "family", "outputs", "one peak by construction", "reference"),
        [
            (
                record.name,
                record.title,
                record.family,
                record.num_outputs,
                "yes" if record.unimodal else "no",
                record.reference,
            )
            for record in records
        ],
    )
    constraints = ", ".join(f"+{record.name} ({record.title})" for record in CONSTRAINTS)
    print_note("These combine with what is put before and behind a name, both at once too, as in smooth-rps+elb:")
    print_note(f"  {SMOOTH}   before any with an output for each class or level: neighbouring outputs learn together")
    print_note(f"  +...      behind any with class scores: {constraints}")
    print_note("Settings of one, with their defaults: onepeak methods NAME")


def _show_one(name: str, *, as_json: bool) -> None:
    """One method, put together or not, as rows of what is known of it."""
    from onepeak.methods.catalog import SMOOTH, method, parts_of

    parts = parts_of(name)
    method(name, num_classes=2)  # refuses what does not go together
    told = _told(parts.record) | {"name": name}
    if parts.constraint is not None:
        told["title"] = f"{parts.record.title}, {parts.constraint.title}"
        own, others = parts.record.defaults, parts.constraint.defaults
        told["settings"] = {key: value for key, value in (own | others).items() if not (key in own and key in others)}
    if parts.smooth:
        told["title"] = f"{told['title']}, neighbouring outputs learn together ({SMOOTH})"
    if as_json:
        typer.echo(json.dumps(told, indent=2))
        return
    settings: dict[str, object] = told["settings"]
    rows = [
        ("title", told["title"]),
        ("family", told["family"]),
        ("reference", told["reference"]),
        ("outputs for c classes", told["num_outputs"]),
        ("one peak by construction", "yes" if told["unimodal"] else "no"),
        ("variants", ", ".join(told["variants"])),
        *((f"setting {key}", _written(value)) for key, value in settings.items()),
    ]
    print_table(("name", name), rows)
    if not settings:
        print_note(f"{name} has no settings.")
        return
    key, value = next(iter(settings.items()))
    given = f"{key}={_written(value)}"
    print_note(f"In train --method {name}:{given}, in compare --methods ce,{name}:{given}; more after further colons.")


def _told(record: "MethodRecord") -> dict[str, Any]:
    """What is known of a method, in values of JSON."""
    fields = ("name", "title", "family", "reference", "year", "num_outputs", "unimodal", "as_published")
    variants = ["corrected"] if record.as_published == "none" else ["corrected", "as_published"]
    told = {name: getattr(record, name) for name in fields}
    return told | {"variants": variants, "settings": record.defaults}


def _written(value: object) -> str:
    """A default as it is written on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
