"""Flags that mean the same in every command that has them."""

import ast
from typing import Annotated

import typer

from onepeak.errors import InputError

Root = Annotated[str | None, typer.Option("--root", help="Folder of a known data set.")]
Order = Annotated[str | None, typer.Option("--order", help="The classes, lowest first: a,b,c or 0..69 or a file.")]
Label = Annotated[str | None, typer.Option("--label", help="Column of the label in a table.")]
Group = Annotated[str | None, typer.Option("--group", help="Column that says who or what an item belongs to.")]
Protocol = Annotated[str, typer.Option("--protocol", help="How to split: auto, paper, code, kfold, holdout or a file.")]
Seed = Annotated[int, typer.Option("--seed", help="Decides every random choice.")]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print results only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def settings_of(pairs: list[str]) -> dict[str, object]:
    """Turns `name=value` flags into settings: numbers, true and false are read as such, all else is text."""
    found: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InputError(f"`--set` must be name=value, got {pair!r}.")
        try:
            found[name] = {"true": True, "false": False}[text] if text in ("true", "false") else ast.literal_eval(text)
        except (ValueError, SyntaxError):
            found[name] = text
    return found
