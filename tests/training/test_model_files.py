import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from mutations import damaged_json
from onepeak.data.images.resize import Resize
from onepeak.data.manifest import FeatureRows, ImageArrays
from onepeak.data.splits.copies import item_digests
from onepeak.errors import InputError, UnknownNameError
from onepeak.methods.catalog import method
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.serving import load
from onepeak.training.calibration import Calibration
from onepeak.training.familiarity import ImageRange
from onepeak.training.model_files import (
    ModelDescription,
    load_description,
    load_held_out_items,
    load_network,
    load_trained_items,
    save_held_out_items,
    save_model,
    save_trained_items,
    short,
    weights_id,
)
from onepeak.training.table_encoder import TableEncoder
from trained_models import changeable, image_run, table_run
from training.planted import CLASSES, WEIGHTS

TABLE = ModelDescription(
    classes=CLASSES,
    method="mv+elb",
    variant="corrected",
    method_settings={"t": 2.0},
    class_weight=WEIGHTS,
    network=NetworkSettings(backbone="mlp", num_features=3, hidden=(8, 4)),
    resize=None,
    table=TableEncoder(
        columns=("age", "colour"), categories={"colour": ("red", "blue")}, means=(1.5, 0.0), stds=(2.0, 1.0), missing=()
    ),
    metrics={"test": {"mae": 0.25}},
    calibration=Calibration(temperature=3.5, num_samples=3, scores=(0.0, 1.25, math.inf), note=None),
    data="planted",
)
IMAGES = replace(
    TABLE,
    method="ce",
    method_settings={},
    class_weight=None,
    network=NetworkSettings(backbone="small", pooling="average"),
    resize=Resize(short_side=64),
    table=None,
    evidence_range=(-1.5, 4.25),
)
ENDS = {"brightness": (90.5, 150.0), "contrast": (5.0, 6.0), "grain": (-4.0, -3.0), "redness": (0.0, 9.0)}


def made(description):
    """A network as described, with weights of its own."""
    weight = None if description.class_weight is None else torch.tensor(description.class_weight)
    answers = method(description.method, num_classes=4, class_weight=weight, **description.method_settings)
    return build_network(answers, description.network, seed=9)


def changed(**values):
    """A description with other values."""
    return lambda text: json.dumps({**json.loads(text), **values})


@pytest.fixture
def folder(tmp_path):
    save_model(tmp_path / "model", TABLE, made(TABLE).state_dict())
    return tmp_path / "model"


def test_weights_are_called_by_the_first_digits_of_the_digest_of_their_file(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"abc")
    assert weights_id(tmp_path) == "ba7816bf8f01"  # FIPS 180-2, appendix B.1


@pytest.mark.parametrize("description", [TABLE, IMAGES], ids=["table", "pictures"])
def test_what_was_saved_is_loaded(tmp_path, description):
    network = made(description)
    save_model(tmp_path, description, network.state_dict())
    assert {path.name for path in tmp_path.iterdir()} == {"onepeak.json", "model.safetensors"}
    assert load_description(tmp_path) == description
    content = json.loads((tmp_path / "onepeak.json").read_text())
    assert content["classes"] == list(CLASSES)
    del content["calibration"], content["evidence_range"]  # as earlier versions wrote it
    (tmp_path / "onepeak.json").write_text(json.dumps(content))
    assert load_description(tmp_path) == replace(description, calibration=None, evidence_range=None)
    found = load_network(tmp_path, description)
    assert not found.training
    weights = network.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in found.state_dict().items())


@pytest.mark.bad_input
def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must be a model's folder, got one without onepeak\.json"):
        load_description(tmp_path)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:50], r"onepeak\.json is damaged"),
        (lambda _: "[]", r"must hold a JSON object"),
        (lambda _: "{}", r"must be of format 1, got None"),
        (changed(format=2), r"must be of format 1, got 2: it needs another version"),
        (changed(smell=3), r"smell: is not known here: it needs a newer onepeak"),
        (lambda text: text.replace("planted", "\xff"), r"onepeak\.json is damaged"),
        (changed(metrics={"test": 1}), r"metrics\.test: must be a table"),
        (changed(classes="abcd"), r"classes: must be a list"),
        (changed(classes=["a"]), r"classes: .*at least 2 different names"),
        (changed(classes=["a", "a", "b"]), r"classes: .*at least 2 different names"),
        (changed(class_weight=["a", "b", "c", "d"]), r"class_weight\[0\]: must be a finite number"),
        (changed(method_settings=[1]), r"method_settings: must be a table"),
        (changed(calibration={"temperature": -1.0, "num_samples": 1, "scores": [0.0]}), r"calibration\.temperature: "),
        (changed(evidence_range=[2.0, 2.0]), r"evidence_range: .*> 2, got 2.0"),
        (changed(evidence_range=[2.0]), r"evidence_range: must be a list of 2"),
        (changed(network={"backbone": "mlp"}), r"network: .*`num_features` must be given"),
        (changed(image_range={"num_images": 500, "ends": ENDS}), r"image_range\.ends: .*must be given for bright"),
    ],
)
def test_a_description_that_cannot_be_read_is_refused(folder, change, message):
    path = folder / "onepeak.json"
    path.write_text(change(path.read_text()), encoding="latin-1")
    with pytest.raises(InputError, match=message):
        load_description(folder)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"network": replace(TABLE.network, hidden=(8, 4, 4))}, r"with 4 classes.*: \d+ missing \(backbone"),
        ({"classes": CLASSES[:3], "class_weight": WEIGHTS[:3]}, r"with 3 classes, got .*: 4 of another shape \(head"),
        # widths that would take all memory are refused before a network is built
        ({"network": replace(TABLE.network, hidden=(150_000_000,) * 2)}, r"of another shape \(backbone"),
        ({"network": replace(TABLE.network, num_features=2**40)}, r"of another shape \(backbone"),
    ],
)
def test_weights_of_another_network_are_refused_with_their_names(folder, changes, told):
    with pytest.raises(InputError, match=rf"mlp network for 'mv\+elb' .*{told}"):
        load_network(folder, replace(TABLE, **changes))


@pytest.mark.bad_input
@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
def test_weights_that_are_no_real_numbers_are_refused(folder, dtype):
    weights = {name: value.to(dtype) for name, value in made(TABLE).state_dict().items()}
    save_model(folder, TABLE, weights)
    with pytest.raises(InputError, match=rf"of another type \(.* {dtype} for torch.float32"):
        load_network(folder, TABLE)


@pytest.mark.bad_input
@pytest.mark.parametrize("number", [150, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("run", [table_run, image_run])
def test_many_damaged_descriptions_are_read_or_refused_by_name(tmp_path, run, number):
    folder = changeable(run().folder, tmp_path / "model")
    path, refused = folder / "onepeak.json", 0
    for content in damaged_json(json.loads(path.read_text()), number):
        path.write_bytes(content)
        try:
            load(folder)
        except InputError as error:
            assert str(folder) in str(error)  # noqa: PT017 - either is right, but nothing else
            refused += 1
    assert refused > number // 2


@pytest.mark.bad_input
@pytest.mark.parametrize("content", [b"", b"nothing of the kind", None])
def test_weights_that_cannot_be_read_are_refused(folder, content):
    path = folder / "model.safetensors"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(
        InputError, match=r"model\.safetensors must be the weights of the model, got a file that cannot"
    ):
        load_network(folder, TABLE)


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["mine", "mine+elb", "smooth-mine"])
def test_a_method_of_the_users_own_that_is_not_known_here_is_told_of(folder, name):
    description = replace(load_description(folder), method=name)
    message = rf"was trained with '{re.escape(name)}', a method of your own .* `python my_method.py .*\(See \"Extend\""
    with pytest.raises(UnknownNameError, match=message):
        load_network(folder, description)


def test_a_column_without_a_value_in_the_training_has_no_range_after_loading_either(tmp_path):
    table = replace(TABLE.table, lowest=(math.nan, 0.0), highest=(math.nan, 0.0))
    save_model(tmp_path / "model", replace(TABLE, table=table), made(TABLE).state_dict())
    loaded = load_description(tmp_path / "model").table
    assert [math.isnan(end[0]) for end in (loaded.lowest, loaded.highest)] == [True, True]
    assert (loaded.lowest[1], loaded.highest[1]) == (0, 0)
    assert not loaded.far_outside(FeatureRows(columns=table.columns, values=np.array([[5.0, 1.0]]))).any()


def test_what_the_images_are_like_is_loaded_with_the_model_and_older_ones_say_nothing(tmp_path):
    images = ImageRange(num_images=500, ends={**ENDS, "yellowness": (-1.0, 1.0)})
    save_model(tmp_path, replace(IMAGES, image_range=images), made(IMAGES).state_dict())
    assert load_description(tmp_path).image_range == images
    path = tmp_path / "onepeak.json"
    content = json.loads(path.read_text())
    ends = content.pop("image_range")["ends"]
    path.write_text(json.dumps(content))
    assert load_description(tmp_path).image_range is None
    path.write_text(json.dumps({**content, "pictures": {"num_pictures": 500, "ends": ends}}))  # as version 0.1 wrote it
    assert load_description(tmp_path).image_range == images


def test_the_items_of_a_model_are_known_again_and_others_are_not(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (6, 4, 4, 3), np.uint8)
    digests = item_digests(ImageArrays(pixels=pixels))
    assert load_trained_items(tmp_path) == frozenset()
    assert load_held_out_items(tmp_path) == []
    save_trained_items(tmp_path, [*digests[:4], digests[0]])
    known = load_trained_items(tmp_path)
    assert [short(digest) in known for digest in digests] == [True] * 4 + [False] * 2
    assert len(known) == 4
    assert (tmp_path / "trained_items.txt").stat().st_size == 4 * 17
    save_held_out_items(tmp_path, ["b" * 64, "a" * 64, "b" * 64])
    assert load_held_out_items(tmp_path) == ["b" * 16, "a" * 16, "b" * 16]  # in the order of the predictions


@pytest.mark.bad_input
def test_a_list_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "trained_items.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"trained_items\.txt"):
        load_trained_items(tmp_path)
