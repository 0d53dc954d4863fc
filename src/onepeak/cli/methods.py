"""`onepeak methods`: the catalog of methods."""

import json
from typing import Annotated

import typer


def methods(as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False) -> None:
    """Lists every method: its name, what it is, and whether its posterior has one peak by construction.

    Example: onepeak methods --json
    """
    import onepeak

    records = onepeak.methods()
    if as_json:
        fields = ("name", "title", "reference", "num_outputs", "unimodal", "as_published", "settings")
        typer.echo(json.dumps([{name: getattr(record, name) for name in fields} for record in records], indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "title", "outputs", "one peak by construction", "reference")
    for record in records:
        table.add_row(record.name, record.title, record.num_outputs, "yes" if record.unimodal else "", record.reference)
    Console().print(table)
