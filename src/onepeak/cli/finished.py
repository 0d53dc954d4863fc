"""A finished run that `onepeak train --resume` finds in its folder: the one that was asked for, or another."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from onepeak._listing import listed
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.errors import InputError
from onepeak.training.json_text import json_text
from onepeak.training.model_files import WEIGHTS, load_description
from onepeak.training.recipe import SETTING_NAMES
from onepeak.training.table import TableEncoder

if TYPE_CHECKING:
    from onepeak.cli.training import TrainRequest


def refuse_other(request: "TrainRequest", manifest: Manifest, result: dict[str, Any]) -> None:
    """A finished run is not taken for one that was asked for with other settings.

    Args:
        request: What was asked for.
        manifest: The data that were asked for.
        result: The record of the run in the folder.
    """
    experiment, entry = request.experiment, request.entry
    asked = {
        "method": entry.name,
        "variant": entry.variant,
        "method_settings": entry.settings,
        "dataset": manifest.name,
        "split": request.split,
        "fold": request.fold,
        "seed": experiment.seed,
        **{name: value for name, value in experiment.recipe.items() if name in SETTING_NAMES},
        **experiment.network,
    }
    description = load_description(request.out)
    trained = result | result.get("recipe", {}) | asdict(description.network)
    others = [
        f"{name} = {trained[name]}, not {value}"
        for name, value in asked.items()
        if name in trained and json_text(trained[name]) != json_text(value)
    ]
    if isinstance(manifest.items, FeatureRows) and description.table is not None:
        others += _other_columns(manifest.items, description.table)
    if others:
        raise InputError(
            f"`--out` {request.out} holds a finished run with {'; '.join(others)}: train anew with another --out, "
            f"from its weights if you like (--weights {request.out / WEIGHTS})."
        )


def _other_columns(rows: FeatureRows, table: TableEncoder) -> list[str]:
    """A sentence where the columns of a table, or the names in them, are not those that were trained on."""
    if rows.columns != table.columns:
        gone, new = set(table.columns) - set(rows.columns), set(rows.columns) - set(table.columns)
        without = [name for name in table.columns if name in gone]
        beside = [name for name in rows.columns if name in new]
        told = [f"the columns {listed(without)} too"] if without else []
        told += [f"no columns {listed(beside)}"] if beside else []
        return told or ["the columns in another order"]
    names = [name for name in rows.columns if rows.categories.get(name) != table.categories.get(name)]
    return [f"other categories (--category) in {listed(names)}"] if names else []
