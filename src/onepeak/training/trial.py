"""A network built on trial, so that a wrong name, setting or file is told before any picture is read."""

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from onepeak._registry import unknown_name
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.errors import InputError
from onepeak.methods.catalog import method
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.own_backbone import is_own
from onepeak.networks.weight_file import read_weights
from onepeak.training.file_names import DESCRIPTION
from onepeak.training.model_files import WEIGHTS, load_description
from onepeak.training.table import TableEncoder

NETWORK_NAMES = tuple(field.name for field in fields(NetworkSettings) if field.name != "num_features")
"""What can be set of a network; how many columns there are, the data says."""


def try_network(manifest: Manifest, given: Mapping[str, Any], *, weights: Path | None = None) -> None:
    """Builds the network that was asked for and loads its weights, as far as that can be done without the pictures.

    Args:
        manifest: The data.
        given: Settings of the network (`NetworkSettings`) that were asked for.
        weights: A local file for the backbone.

    Raises:
        InputError: There is no such setting or backbone, it does not suit the data, or the weights do not fit.
    """
    for name in given:
        if name not in NETWORK_NAMES:
            raise unknown_name("setting of a network", name, NETWORK_NAMES)
    check_backbone(manifest, given.get("backbone"))
    table = isinstance(manifest.items, FeatureRows)
    if isinstance(manifest.items, FeatureRows) and weights is not None:
        check_columns(manifest.items, weights)
    columns = len(manifest.items.columns) if isinstance(manifest.items, FeatureRows) else None
    suits = NetworkSettings(backbone="small" if columns is None else "mlp", num_features=columns)
    settings = replace(suits, **given)
    if "backbone" in given or table:
        build_network(method("ce", num_classes=2), settings, weights=None if table else weights)
    elif weights is not None:  # which backbone suits the pictures depends on their size
        read_weights(weights)


def check_columns(rows: FeatureRows, weights: Path) -> None:
    """Refuses the weights of a model whose columns were others, each of which would stand for the one at its place.

    Which they were, the model's description beside the weights says; weights without one are taken.
    """
    if weights.name != WEIGHTS or not (weights.parent / DESCRIPTION).exists():
        return
    table = load_description(weights.parent).table
    if table is None:
        raise InputError(f"`weights` must be those of a table, {weights} belongs to a model of pictures.")
    for place, (there, here) in enumerate(zip_longest(_columns(table), _columns(rows), fillvalue="none"), start=1):
        if there != here:
            raise InputError(
                f"`weights` must be those of a table with the same columns in the same order, got {weights}, where "
                f"column {place} is {there}, and here {here}."
            )


def _columns(table: FeatureRows | TableEncoder) -> list[str]:
    """The columns, categories with all they can be."""
    categories = {name: f" ({', '.join(codes)})" for name, codes in table.categories.items()}
    return [f"{name}{categories.get(name, '')}" for name in table.columns]


def check_backbone(manifest: Manifest, backbone: str | None) -> None:
    """Refuses a backbone for pictures on a table, and the other way round; None is what suits the data."""
    table = isinstance(manifest.items, FeatureRows)
    if backbone is not None and not is_own(backbone) and (backbone == "mlp") != table:
        fit = "mlp for a table" if table else "small or a timm name for pictures"
        raise InputError(f"`backbone` must be {fit}, got {backbone!r}.")
