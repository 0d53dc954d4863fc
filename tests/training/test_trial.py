import re
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch

import onepeak
from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.small import SmallConvNet
from onepeak.training.json_text import json_text
from onepeak.training.model_files import ModelDescription, load_description, save_model
from onepeak.training.table import TableEncoder
from onepeak.training.trial import NETWORK_NAMES, check_backbone, try_network
from training.planted import planted_pictures, planted_table

TABLE, PICTURES = planted_table(10), planted_pictures(4)


def test_what_can_be_built_is_let_through(tmp_path):
    try_network(TABLE, {})
    try_network(TABLE, {"hidden": (8, 4), "dropout": 0.5})
    try_network(PICTURES, {"kmax": 0.2, "alpha": 0.5})
    torch.save(SmallConvNet().state_dict(), tmp_path / "weights.pt")
    try_network(PICTURES, {"backbone": "small", "pooling": "max"}, weights=tmp_path / "weights.pt")
    try_network(PICTURES, {}, weights=tmp_path / "weights.pt")


def test_every_setting_of_a_network_can_be_given_but_what_the_data_says():
    assert {"maps_per_class", "kmax", "kmin", "alpha", "hidden", "dropout", "pooling", "backbone"} == set(NETWORK_NAMES)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("data", "given", "message"),
    [
        (PICTURES, {"kmx": 0.2}, r"Unknown setting of a network 'kmx'\. Did you mean 'kmax'\?"),
        (PICTURES, {"num_features": 3}, r"Unknown setting of a network 'num_features'"),
        (PICTURES, {"kmax": -1}, r"`kmax` must be .*got -1"),
        (PICTURES, {"hidden": (8,)}, r"`hidden` does nothing with backbone='small', got \(8,\): leave it out"),
        (PICTURES, {"backbone": "resnet19"}, r"Unknown backbone 'resnet19'\. Did you mean 'resnet18'"),
        (PICTURES, {"backbone": "mlp"}, r"`backbone` must be small or a timm name for images, got 'mlp'"),
        (TABLE, {"backbone": "small"}, r"`backbone` must be mlp for a table, got 'small'"),
        (TABLE, {"kmax": 0.2}, r"`kmax` does nothing with backbone='mlp'"),
        (TABLE, {"dropout": 2.0}, r"`dropout` must be .*got 2\.0"),
        (TABLE, {"hidden": (0,)}, r"hidden"),
    ],
)
def test_what_cannot_be_built_is_refused(data, given, message):
    with pytest.raises(InputError, match=message):
        try_network(data, given)


@pytest.mark.bad_input
def test_weights_that_are_not_there_or_do_not_fit_are_refused(tmp_path):
    for given in ({}, {"backbone": "small"}):
        with pytest.raises(InputError, match=r"`weights` must be a file, 'gone\.pt' is not there"):
            try_network(PICTURES, given, weights=Path("gone.pt"))
    torch.save({"other": torch.zeros(1)}, tmp_path / "weights.pt")
    with pytest.raises(InputError, match="`weights` must fit the backbone"):
        try_network(PICTURES, {"backbone": "small"}, weights=tmp_path / "weights.pt")


@pytest.fixture
def weights(tmp_path):
    """Those of a model of a table, beside its description."""
    network = NetworkSettings(backbone="mlp", num_features=4)
    description = ModelDescription(
        classes=("a", "b"),
        method="ce",
        variant="corrected",
        method_settings={},
        network=network,
        resize=None,
        table=TableEncoder.learn(rows_of(["size", "shape", "age"])),
    )
    save_model(tmp_path, description, build_network(onepeak.method("ce", num_classes=2), network).state_dict())
    return tmp_path / "model.safetensors"


def rows_of(columns, *, codes=("oval", "round")):
    categories = {"shape": codes} if "shape" in columns else {}
    return FeatureRows(columns=tuple(columns), values=np.zeros((4, len(columns))), categories=categories)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (rows_of(["age", "shape", "size"]), "column 1 is size, and here it is age"),
        (rows_of(["size", "shape", "years"]), "column 3 is age, and here it is years"),
        (rows_of(["size", "shape"]), "column 3 is age, and here it is none"),
        (
            rows_of(["size", "shape", "age"], codes=("oval", "square")),
            "(oval, round), and here it is shape (oval, square)",
        ),
    ],
)
def test_weights_of_a_table_are_not_taken_for_other_columns(weights, rows, told):
    table = replace(TABLE, items=rows_of(["size", "shape", "age"]), labels=np.zeros(4, int), groups=None)
    try_network(table, {}, weights=weights)
    with pytest.raises(InputError, match=re.escape(told)):
        try_network(replace(table, items=rows), {}, weights=weights)
    elsewhere = weights.rename(weights.with_name("moved.safetensors"))  # what the columns were, nobody knows
    try_network(replace(table, items=rows), {}, weights=elsewhere)


@pytest.mark.bad_input
def test_weights_of_pictures_are_not_taken_for_a_table(weights):
    description = replace(load_description(weights.parent), table=None)
    (weights.parent / "onepeak.json").write_text(json_text(asdict(description)))
    with pytest.raises(InputError, match="belongs to a model for images"):
        try_network(TABLE, {}, weights=weights)


@pytest.mark.bad_input
def test_a_backbone_must_suit_the_data():
    check_backbone(TABLE, None)
    check_backbone(TABLE, "mlp")
    check_backbone(PICTURES, "resnet18")
    with pytest.raises(InputError, match="must be mlp for a table"):
        check_backbone(TABLE, "resnet18")
