"""A trial build of the network, so that a wrong name, setting or file is reported before any image is read."""

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
"""The settings of a network that a user can give; the number of columns comes from the data."""


def try_network(manifest: Manifest, given: Mapping[str, Any], *, weights: Path | None = None) -> None:
    """Builds the requested network and loads its weights, as far as that is possible without the images.

    Args:
        manifest: The data.
        given: The requested settings of the network (`NetworkSettings`).
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
    elif weights is not None:  # the default backbone depends on the size of the images
        read_weights(weights)


def check_columns(rows: FeatureRows, weights: Path) -> None:
    """Rejects the weights of a model with other columns, which would be matched by position.

    The columns are in the model's description next to the weights; weights without a description are accepted.
    """
    if weights.name != WEIGHTS or not (weights.parent / DESCRIPTION).exists():
        return
    table = load_description(weights.parent).table
    if table is None:
        raise InputError(f"`weights` must be from a model for tables, {weights} belongs to a model for images.")
    for place, (there, here) in enumerate(zip_longest(_columns(table), _columns(rows), fillvalue="none"), start=1):
        if there != here:
            raise InputError(
                f"`weights` must be from a model for a table with the same columns in the same order, got {weights}, "
                f"where column {place} is {there}, and here it is {here}."
            )


def _columns(table: FeatureRows | TableEncoder) -> list[str]:
    """Returns the columns, with the possible values of categories."""
    categories = {name: f" ({', '.join(codes)})" for name, codes in table.categories.items()}
    return [f"{name}{categories.get(name, '')}" for name in table.columns]


def check_backbone(manifest: Manifest, backbone: str | None) -> None:
    """Rejects an image backbone for a table and vice versa; None means the default for the data."""
    table = isinstance(manifest.items, FeatureRows)
    if backbone is not None and not is_own(backbone) and (backbone == "mlp") != table:
        fit = "mlp for a table" if table else "small or a timm name for images"
        raise InputError(f"`backbone` must be {fit}, got {backbone!r}.")
