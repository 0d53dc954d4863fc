"""`onepeak methods`: the catalog of methods, or one of them with its settings."""

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from onepeak.cli.options import flag, switch
from onepeak.cli.output import print_note, print_table

if TYPE_CHECKING:  # torch comes when the command runs
    from onepeak.methods.record import AdditionRecord, MethodRecord


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
        switch("Output", "--unimodal/--not-unimodal", "Only methods with, or without, one peak by construction."),
    ] = None,
    as_json: Annotated[bool, switch("Output", "--json", "Print the records as JSON.")] = False,
) -> None:
    """Lists all methods and whether their posteriors have one peak by construction, or shows one with its settings.

    The suffix +elb or +pn adds a constraint to any method with class scores: mv+elb, ld+pn. The prefix smooth- averages
    neighbouring outputs of any method with one output per class or level: smooth-elb, smooth-rps+elb.

    Example: onepeak methods elb
    """
    import onepeak
    from onepeak._core.check import check_choice
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
        typer.echo(json.dumps([_record(record) for record in records], indent=2))
        return
    _show_all(records)


def _show_all(records: "list[MethodRecord]") -> None:
    from onepeak.methods.catalog import CONSTRAINTS, FEATURE_TERMS, SMOOTH

    print_table(
        ("name", "title", "family", "always one peak"),
        [(record.name, record.title, record.family, "yes" if record.unimodal else "no") for record in records],
    )
    constraints = ", ".join(f"+{record.name} ({record.title})" for record in CONSTRAINTS)
    print_note("Add a prefix, a suffix or both, as in smooth-rps+elb:")
    print_note(f"  {SMOOTH}   for any method with one output per class or level: averages neighbouring outputs")
    print_note(f"  +...      for any method with class scores: {constraints}")
    terms = ", ".join(f"+{record.name} ({record.title})" for record in FEATURE_TERMS)
    print_note(f"  +...      for any method, in training only: {terms}")
    print_note("Next: onepeak methods NAME, for its settings and reference")


def _show_one(name: str, *, as_json: bool) -> None:
    """One method, put together or not, as rows of what is known of it."""
    from onepeak.methods.catalog import SMOOTH, method, parts_of

    parts = parts_of(name)
    method(name, num_classes=2)  # refuses what does not go together
    record_values = _record(parts.record) | {"name": name}
    if parts.added:
        owners: list[MethodRecord | AdditionRecord] = [parts.record, *parts.added]
        record_values["title"] = ", ".join(each.title for each in owners)
        times = Counter(key for each in owners for key in each.defaults)  # a key of two owners is no setting of either
        record_values["settings"] = {
            key: value for each in owners for key, value in each.defaults.items() if times[key] == 1
        }
    if parts.smooth:
        record_values["title"] = f"{record_values['title']}, neighbouring outputs averaged ({SMOOTH})"
    if as_json:
        typer.echo(json.dumps(record_values, indent=2))
        return
    settings: dict[str, object] = record_values["settings"]
    rows = [
        ("title", record_values["title"]),
        ("family", record_values["family"]),
        ("reference", record_values["reference"]),
        ("outputs for c classes", record_values["num_outputs"]),
        ("one peak by construction", "yes" if record_values["unimodal"] else "no"),
        ("variants", ", ".join(record_values["variants"])),
        *((f"setting {key}", _written(value)) for key, value in settings.items()),
    ]
    print_table(("name", name), rows)
    if not settings:
        print_note(f"{name} has no settings.")
        return
    key, value = next(iter(settings.items()))
    given = f"{key}={_written(value)}"
    print_note(
        f"Use train --method {name}:{given} or compare --methods ce,{name}:{given}; add more with further colons."
    )


def _record(record: "MethodRecord") -> dict[str, Any]:
    """What is known of a method, in values of JSON."""
    fields = ("name", "title", "family", "reference", "year", "num_outputs", "unimodal", "as_published")
    variants = ["corrected"] if record.as_published == "none" else ["corrected", "as_published"]
    record_values = {name: getattr(record, name) for name in fields}
    return record_values | {"variants": variants, "settings": record.defaults}


def _written(value: object) -> str:
    """A default as it is written on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
