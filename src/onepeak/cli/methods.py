"""`onepeak methods`: the catalog of methods."""

import json
from typing import Annotated, get_args

import typer

from onepeak.cli.tables import print_note, print_table


def methods(
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

    A constraint can be put on any method with class scores: mv+elb, ld+pn. Neighbouring outputs of any method with one
    a class or level can learn together: smooth-elb, smooth-rps+elb.

    Example: onepeak methods --family levels --json
    """
    import onepeak
    from onepeak._check import check_choice
    from onepeak.methods.catalog import CONSTRAINTS, SMOOTH
    from onepeak.methods.record import Family

    if family is not None:
        check_choice("--family", family, get_args(Family))
    records = [
        record
        for record in onepeak.methods()
        if family in (None, record.family) and unimodal in (None, record.unimodal)
    ]
    if as_json:
        fields = ("name", "title", "family", "reference", "year", "num_outputs", "unimodal", "as_published", "settings")
        typer.echo(json.dumps([{name: getattr(record, name) for name in fields} for record in records], indent=2))
        return
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
