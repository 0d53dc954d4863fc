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
from onepeak.serving.inspector.images import LARGE_SIDE, EvidenceMaps, ImageReader, overlay
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


def test_a_image_that_has_gone_is_empty(tmp_path):
    images = ImageReader(source(ImageFiles(root=tmp_path, paths=("gone.png",))))
    assert images.thumbnail(0) == b""


def pixels(content):
    return np.asarray(Image.open(io.BytesIO(content)))


def test_on_a_scale_of_the_model_weak_evidence_stays_pale_and_what_goes_beyond_is_brightest():
    weak, strong = (np.array([[-3.0, high], [0.0, 0.0]], dtype=np.float32) for high in (2.0, 50.0))
    pale, bright = (pixels(overlay(each, (40, 40), (0.0, 20.0))) for each in (weak, strong))
    assert int(pale[..., 3].max()) == pytest.approx(25, abs=8)  # a tenth of the scale, as smoothed
    assert bright[0, -1, 3] == 255
    assert pale[0, 0, 3] == bright[0, 0, 3] == 0


def test_without_a_scale_opacity_rises_from_the_lowest_to_the_highest_evidence():
    found = pixels(overlay(np.array([[-3.0, 5.0], [1.0, 1.0]], dtype=np.float32), (40, 40)))
    assert found.shape == (512, 512, 4)
    assert found[0, 0, 3] == 0
    assert found[0, -1, 3] == 255
    assert found[-1, 256, 3] == pytest.approx(127, abs=40)


def test_the_map_has_the_shape_of_the_image_and_may_be_even():
    found = pixels(overlay(np.zeros((3, 3), dtype=np.float32), (200, 100)))
    assert found.shape == (256, 512, 4)
    assert found[..., 3].max() == 0


def test_the_map_is_the_networks_evidence_for_the_class(compared):
    run = find_runs(compared).runs[0]
    image = Image.open(next((compared.parent / "data").rglob("*.png"))).convert("RGB")
    model = load(run.folder)
    batch = torch.tensor(np.asarray(image)).permute(2, 0, 1)[None]
    with torch.inference_mode():
        evidence = model.network.class_evidence(normalise(batch), torch.tensor([3]))[0].numpy()
    ends = model.description.evidence_range
    pngs = EvidenceMaps().png(run, image, 3), overlay(evidence, (32, 32), ends)
    found, wanted = (pixels(png)[..., 3] for png in pngs)
    assert wanted.max() > 0
    np.testing.assert_allclose(found.astype(int), wanted.astype(int), atol=1)  # the last bits may differ


def test_a_class_without_any_probability_in_a_place_has_least_evidence_there(compared, monkeypatch):
    run = find_runs(compared).runs[0]
    maps = EvidenceMaps()
    model = maps._model(run)
    found = torch.tensor([[[-torch.inf, -2.0], [1.0, 1.0]]])
    monkeypatch.setattr(model.network, "class_evidence", lambda *_: found)
    finite = overlay(np.array([[-2.0, -2.0], [1.0, 1.0]], dtype=np.float32), (32, 32), maps.ends(run))
    assert maps.png(run, Image.new("RGB", (32, 32)), 0) == finite


def test_few_models_stay_loaded(compared):
    maps, image = EvidenceMaps(), Image.new("RGB", (32, 32))
    for run in find_runs(compared).runs:
        maps.png(run, image, 0)
    assert len(maps._models) == 2


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
    assert not maps._models  # to know it, no weights are loaded
    shown = pixels(maps.png(run_of("Maps"), Image.new("RGB", (32, 32)), 1))
    assert shown.shape == (512, 512, 4)


def test_code_that_is_not_trusted_or_not_there_is_not_run_and_that_is_told(run_of, monkeypatch):
    run = run_of("Maps")
    made = []
    monkeypatch.setattr(Maps, "__init__", lambda _: made.append(1))
    assert f"set the environment variable ONEPEAK_TRUST={__name__}" in EvidenceMaps().missing(run)
    assert not made
    monkeypatch.setenv("ONEPEAK_TRUST", __name__)
    monkeypatch.delattr(sys.modules[__name__], "Maps")
    assert "must name a class or function of" in EvidenceMaps().missing(run)


def test_a_method_that_is_not_known_here_is_told(run_of, monkeypatch):
    monkeypatch.setenv("ONEPEAK_TRUST", __name__)
    run = run_of("Maps")
    path = run.folder / "onepeak.json"
    path.write_text(path.read_text().replace('"method": "ce"', '"method": "mine"'))
    assert "was trained with 'mine', a method of your own that is not known here" in EvidenceMaps().missing(run)


def test_a_network_with_maps_has_evidence_and_is_not_loaded_to_know_it(compared):
    maps = EvidenceMaps()
    assert [maps.missing(run) for run in find_runs(compared).runs] == [""] * 4
    assert not maps._models


def test_a_model_that_is_gone_or_damaged_is_told(run_of):
    run = run_of("Maps")
    (run.folder / "onepeak.json").write_text("{")
    assert "is damaged" in EvidenceMaps().missing(run)
    (run.folder / "model.safetensors").unlink()
    assert EvidenceMaps().missing(run) == "This run kept no model."
