import re
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import load_file

import onepeak
from image_files import write_images
from onepeak._core.formats import json_text
from onepeak.cli import main
from onepeak.data.images.resize import Resize
from onepeak.data.manifest import FeatureRows, ImageFiles
from onepeak.errors import InputError
from onepeak.networks.backbones import SmallConvNet
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.inputs import ImageInput
from onepeak.training.feed import ImageFeed, RowFeed
from onepeak.training.model_files import ModelDescription, load_description, save_model
from onepeak.training.prepare import prepare, pretrained_file, timm_pixels, try_network
from onepeak.training.table_encoder import TableEncoder
from training.planted import RECIPE, planted_images, planted_table, split_of


def test_a_table_is_encoded_by_its_training_part_alone():
    manifest, split = planted_table(50), split_of(50)
    feed, encoder = prepare(manifest, RECIPE).feed(split, RECIPE, torch.device("cpu"))
    assert isinstance(feed, RowFeed)
    proposed = prepare(manifest, RECIPE).suits()
    assert (proposed.backbone, proposed.num_features) == ("mlp", 6)
    train = feed.rows[torch.tensor(split.train)].numpy()
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(train.std(axis=0), 1, rtol=1e-4)
    values = manifest.items.values.copy()
    values[split.test] += 100  # what is tested on teaches nothing
    other = replace(manifest, items=replace(manifest.items, values=values))
    assert prepare(other, RECIPE).feed(split, RECIPE, torch.device("cpu"))[1] == encoder


def test_images_are_resized_and_fed_from_a_store():
    prepared = prepare(planted_images(20), replace(RECIPE, resize=Resize(scale=0.5)), quiet=True)
    feed, encoder = prepared.feed(split_of(20), RECIPE, torch.device("cpu"))
    assert isinstance(feed, ImageFeed)
    assert encoder is None
    assert (prepared.store.sizes == 8).all()
    assert len(prepared.digests) == 20
    assert prepared.notes == ()
    proposed = [prepare(planted_images(4, size=size), RECIPE, quiet=True).suits().backbone for size in (96, 97)]
    assert proposed == ["small", "resnet18"]


def test_bad_images_are_left_out_with_their_labels_where_that_is_allowed(tmp_path):
    items, _ = write_images(tmp_path / "pictures", [(8, 8)] * 6)
    (items.root / "4.png").write_bytes(b"")
    manifest = replace(planted_images(6), items=items)
    prepared = prepare(manifest, RECIPE, cache_dir=tmp_path / "cache", skip_bad=True, quiet=True)
    assert prepared.notes == ("left out 1 image that cannot be read: 4.png: the file is empty (0 bytes)",)
    assert prepared.manifest.items.paths == ("0.png", "1.png", "2.png", "3.png", "5.png")
    assert prepared.manifest.labels.tolist() == [0, 1, 2, 3, 1]
    assert len(prepared.digests) == 5
    grouped = replace(manifest, groups=tuple("aabbcc"), group_column="patient", num_left_out=2)
    again = prepare(grouped, RECIPE, cache_dir=tmp_path / "cache", skip_bad=True, quiet=True)
    assert again.counts == {"items": 5, "groups": 3, "group_column": "patient", "left_out": 3}


@pytest.mark.bad_input
def test_bad_images_that_are_all_of_a_class_are_not_left_out(tmp_path):
    items, _ = write_images(tmp_path / "pictures", [(8, 8)] * 6)
    for name in ("2.png", "3.png"):
        (items.root / name).write_bytes(b"")
    manifest = replace(planted_images(6), items=items)
    flags = {"cache_dir": tmp_path / "cache", "skip_bad": True, "quiet": True}
    message = (
        r"^Every class must keep a sample, none is left of 'good', 'high': left out 2 images that cannot be read: "
        r"2\.png: .*, 3\.png: .* bytes\)\. Correct or delete them\.$"
    )
    with pytest.raises(InputError, match=message):
        prepare(manifest, RECIPE, **flags)
    assert len(prepare(manifest, RECIPE, keep_classes=False, **flags).manifest) == 4


def test_images_that_are_nearly_black_are_told_of(tmp_path):
    names = tuple(f"{number}.png" for number in range(4))
    for name in names:
        Image.fromarray(np.full((8, 8), 4000, np.uint16)).save(tmp_path / name)
    manifest = replace(planted_images(4), items=ImageFiles(root=tmp_path, paths=names))
    (note,) = prepare(manifest, RECIPE, cache_dir=tmp_path / "cache", quiet=True).notes
    assert "no value above 4,000 of 65,535" in note
    prepared = prepare(manifest, replace(RECIPE, bits=12), cache_dir=tmp_path / "cache", quiet=True)
    assert prepared.notes == ()
    assert (prepared.store[0] == 249).all()  # 4000 / 4095 of 255


TABLE, IMAGES = planted_table(10), planted_images(4)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("data", "given", "message"),
    [
        (IMAGES, {"kmx": 0.2}, r"Unknown setting of a network 'kmx'\. Did you mean 'kmax'\?"),
        (IMAGES, {"num_features": 3}, r"Unknown setting of a network 'num_features'"),
        (IMAGES, {"kmax": -1}, r"`kmax` must be .*got -1"),
        (IMAGES, {"hidden": (8,)}, r"`hidden` does nothing with backbone='small', got \(8,\): leave it out"),
        (IMAGES, {"backbone": "resnet19"}, r"Unknown backbone 'resnet19'\. Did you mean 'resnet18'"),
        (IMAGES, {"backbone": "mlp"}, r"`backbone` must be small or a timm name for images, got 'mlp'"),
        (TABLE, {"backbone": "small"}, r"`backbone` must be mlp for a table, got 'small'"),
        (TABLE, {"backbone": "resnet18"}, r"`backbone` must be mlp for a table, got 'resnet18'"),
        (IMAGES, {"mean": (0.5, 0.5, 0.5)}, "`mean` and `std` must be given together"),
        (IMAGES, {"mean": (0.5,), "std": (1, 1, 1)}, r"`mean` must be three numbers, .* got \(0\.5,\)"),
        (IMAGES, {"mean": (0, 0, 0), "std": (1, 0, 1)}, "`std` must be a finite number > 0, got 0"),
        (TABLE, {"mean": (0, 0, 0), "std": (1, 1, 1)}, "`mean` does nothing with backbone='mlp'"),
        (TABLE, {"kmax": 0.2}, r"`kmax` does nothing with backbone='mlp'"),
        (TABLE, {"dropout": 2.0}, r"`dropout` must be .*got 2\.0"),
        (TABLE, {"hidden": (0,)}, r"hidden"),
    ],
)
def test_what_cannot_be_built_is_refused(data, given, message):
    try_network(TABLE, {"hidden": (8, 4), "dropout": 0.5})
    with pytest.raises(InputError, match=message):
        try_network(data, given)


@pytest.mark.bad_input
def test_weights_that_are_not_there_or_do_not_fit_are_refused(tmp_path):
    for given in ({}, {"backbone": "small"}):
        with pytest.raises(InputError, match=r"`weights` must be a file, 'gone\.pt' is not there"):
            try_network(IMAGES, given, weights=Path("gone.pt"))
    torch.save(SmallConvNet().state_dict(), tmp_path / "weights.pt")
    for given in ({"backbone": "small", "pooling": "max"}, {"kmax": 0.2, "alpha": 0.5}):
        try_network(IMAGES, given, weights=tmp_path / "weights.pt")
    torch.save({"other": torch.zeros(1)}, tmp_path / "weights.pt")
    with pytest.raises(InputError, match="`weights` must fit the backbone"):
        try_network(IMAGES, {"backbone": "small"}, weights=tmp_path / "weights.pt")


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
    images = replace(load_description(weights.parent), table=None)
    (weights.parent / "onepeak.json").write_text(json_text(asdict(images)))
    with pytest.raises(InputError, match="belongs to a model for images"):
        try_network(table, {}, weights=weights)
    elsewhere = weights.rename(weights.with_name("moved.safetensors"))  # what the columns were, nobody knows
    try_network(replace(table, items=rows), {}, weights=elsewhere)


IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}


@pytest.fixture
def fetched(monkeypatch, tmp_path):
    """The names of networks whose weights timm would have fetched."""
    names, original = [], timm.create_model

    def create(name, *, pretrained=False, **options):
        if pretrained:
            names.append(name)
            torch.manual_seed(7)
        return original(name, pretrained=False, **options)

    monkeypatch.setattr(timm, "create_model", create)
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path / "cache"))
    return names


def test_weights_are_fetched_once_and_then_read_from_a_file(fetched, tmp_path):
    path = pretrained_file("resnet10t")
    assert path == tmp_path / "cache" / "weights" / "resnet10t.c3_in1k.safetensors"
    torch.manual_seed(7)
    expected = timm.create_model("resnet10t", num_classes=0).state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in load_file(path).items())
    times = len(fetched)  # timm refuses some options first
    assert pretrained_file("resnet10t") == path
    assert len(fetched) == times > 0


@pytest.mark.bad_input
def test_without_a_network_the_error_names_the_way_out_and_only_timm_has_weights(monkeypatch, tmp_path):
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    original = timm.create_model

    def create(name, *, pretrained=False, **options):
        if pretrained:
            raise OSError("no route to host")
        return original(name, **options)

    monkeypatch.setattr(timm, "create_model", create)
    with pytest.raises(InputError, match=r"could not be downloaded \(no route to host\).* with --weights FILE"):
        pretrained_file("resnet10t")
    for backbone in ("mlp", "small", "nets:Own"):
        with pytest.raises(InputError, match="needs a backbone of timm"):
            pretrained_file(backbone)
        with pytest.raises(InputError, match="needs a backbone of timm"):
            timm_pixels(backbone)


def test_pixels_are_those_of_timms_own_transform():
    assert timm_pixels("resnet18") == IMAGENET
    pixels = torch.randint(0, 256, (2, 3, 4, 5), dtype=torch.uint8)
    mean, std = (torch.tensor(IMAGENET[name]).view(3, 1, 1) for name in ("mean", "std"))
    expected = (pixels / 255 - mean) / std
    torch.testing.assert_close(ImageInput(**IMAGENET)(pixels), expected, atol=1e-6, rtol=1e-6)
    half = ImageInput((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    assert torch.equal(half(pixels), ImageInput()(pixels))  # the paper's, to the last bit


def test_training_with_them_reads_pixels_as_timm_does_and_so_does_the_model(fetched, tmp_path, monkeypatch):
    for grade in range(2):
        write_images(tmp_path / str(grade), [(32, 32)] * 15)
    flags = ["train", str(tmp_path), "--backbone", "resnet10t", "--epochs", "1", "--weights", "pretrained", "--quiet"]
    flags += ["--out", str(tmp_path / "out" / "model"), "--device", "cpu", "--logger", "none", "--allow-leak"]
    monkeypatch.setattr("sys.argv", ["onepeak", *flags])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    model = onepeak.load(tmp_path / "out" / "model")
    config = timm.get_pretrained_cfg("resnet10t")
    assert (model.description.network.mean, model.description.network.std) == (config.mean, config.std)
    expected = -torch.tensor(config.mean) / torch.tensor(config.std)
    torch.testing.assert_close(model._images([np.zeros((32, 32, 3), np.uint8)])[0, :, 0, 0], expected)
