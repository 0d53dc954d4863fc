import io
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import onepeak
from onepeak.data.images.resize import Resize
from onepeak.data.manifest import ImageArrays, ImageFiles, Manifest
from onepeak.networks import NetworkSettings, build_network
from onepeak.networks.inputs import normalise
from onepeak.networks.own_backbone import source_digest
from onepeak.report.source import Source
from onepeak.serving import load
from onepeak.serving.inspector.images import LARGE_SIDE, EvidenceMaps, ImageReader
from onepeak.serving.inspector.runs import find_runs
from onepeak.training.model_files import ModelDescription, save_model


def source(items):
    return Source(
        manifest=Manifest(name="mine", items=items, labels=np.zeros(len(items), dtype=np.int64), classes=("a", "b"))
    )


def size(content):
    return Image.open(io.BytesIO(content)).size


def test_small_images_are_small_and_large_ones_bounded():
    images = ImageReader(source(ImageArrays(pixels=np.zeros((1, 600, 2000, 3), dtype=np.uint8))))
    assert size(images.thumbnail(0)) == (160, 48)
    assert size(images.large(0)) == (LARGE_SIDE, 307)


def test_a_thumbnail_is_made_once(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGB", (20, 10), "red").save(path)
    images = ImageReader(source(ImageFiles(root=tmp_path, paths=("a.png",))))
    first = images.thumbnail(0)
    path.unlink()
    assert images.thumbnail(0) == first
    assert images.large(0) is None
    assert ImageReader(images.source).thumbnail(0) == b""


def test_the_map_is_the_networks_evidence_for_the_class(compared):
    run = find_runs(compared).runs[0]
    image = Image.open(next((compared.parent / "data").rglob("*.png"))).convert("RGB")
    batch = torch.tensor(np.asarray(image)).permute(2, 0, 1)[None]
    with torch.inference_mode():
        evidence = load(run.folder).network.class_evidence(normalise(batch), torch.tensor([3]))[0]
    np.testing.assert_allclose(EvidenceMaps().rows(run, image, 3), evidence, atol=1e-4)  # the last bits may differ


def test_few_models_stay_loaded(compared):
    maps, image = EvidenceMaps(), Image.new("RGB", (32, 32))
    for run in find_runs(compared).runs:
        maps.rows(run, image, 0)
    assert maps.model.cache_info().currsize == 2


class PooledAway(nn.Sequential):
    """Features of images, no maps."""

    def __init__(self):
        super().__init__(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())


class Maps(nn.Conv2d):
    def __init__(self):
        super().__init__(3, 4, 3)


@pytest.fixture
def run_of(compared, tmp_path):
    """Makes the run of a model around a network of this file."""

    def make(name):
        settings = NetworkSettings(backbone=f"{__name__}:{name}")
        network = build_network(onepeak.method("ce", num_classes=3), settings, seed=0)
        description = ModelDescription(
            classes=("a", "b", "c"),
            method="ce",
            variant="corrected",
            method_settings={},
            table=None,
            network=settings,
            resize=Resize(scale=1.0),
            backbone_source=source_digest(settings.backbone),
        )
        save_model(tmp_path / name, description, network.state_dict())
        return replace(find_runs(compared).runs[0], folder=tmp_path / name)

    return make


def test_what_a_network_of_somebodys_own_lacks_is_told(run_of, monkeypatch):
    monkeypatch.setenv("ONEPEAK_TRUST", __name__)
    maps = EvidenceMaps()
    assert maps.missing(run_of("PooledAway")) == "Its network gives features, not maps."
    assert maps.missing(run_of("Maps")) == ""
    assert not maps.model.cache_info().currsize  # to know it, no weights are loaded
    assert np.shape(maps.rows(run_of("Maps"), Image.new("RGB", (32, 32)), 1)) == (30, 30)


def test_code_that_is_not_trusted_or_not_there_is_not_run_and_that_is_told(run_of, monkeypatch):
    run = run_of("Maps")
    made = []
    monkeypatch.setattr(Maps, "__init__", lambda _: made.append(1))
    assert f"set the environment variable ONEPEAK_TRUST={__name__}" in EvidenceMaps().missing(run)
    assert not made
    monkeypatch.setenv("ONEPEAK_TRUST", __name__)
    monkeypatch.delattr(sys.modules[__name__], "Maps")
    assert "must name a class or function of" in EvidenceMaps().missing(run)


def test_a_model_that_is_gone_damaged_or_of_an_unknown_method_is_told(run_of, monkeypatch):
    monkeypatch.setenv("ONEPEAK_TRUST", __name__)
    run = run_of("Maps")
    path = run.folder / "onepeak.json"
    path.write_text(path.read_text().replace('"method": "ce"', '"method": "mine"'))
    assert "was trained with 'mine', a method of your own that is not known here" in EvidenceMaps().missing(run)
    path.write_text("{")
    assert "is damaged" in EvidenceMaps().missing(run)
    (run.folder / "model.safetensors").unlink()
    assert EvidenceMaps().missing(run) == "This run kept no model."
