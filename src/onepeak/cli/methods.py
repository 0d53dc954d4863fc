"""`onepeak methods`: the catalog of methods."""

import json
from typing import Annotated

import typer

from onepeak.cli.tables import print_note, print_table


def methods(as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False) -> None:
    """Lists every method: its name, what it is, and whether its posterior has one peak by construction.

    A constraint can be put on any method with class scores: mv+elb, ld+pn.

    Example: onepeak methods --json
    """
    import onepeak
    from onepeak.methods.catalog import CONSTRAINTS

    records = onepeak.methods()
    if as_json:
        fields = ("name", "title", "reference", "num_outputs", "unimodal", "as_published", "settings")
        typer.echo(json.dumps([{name: getattr(record, name) for name in fields} for record in records], indent=2))
        return
    print_table(
        ("name", "title", "outputs", "one peak by construction", "reference"),
        [
            (record.name, record.title, record.num_outputs, "yes" if record.unimodal else "no", record.reference)
            for record in records
        ],
    )
    constraints = ", ".join(f"+{record.name} ({record.title})" for record in CONSTRAINTS)
    print_note(f"Put on any method with class scores, as in mv+elb: {constraints}.")
