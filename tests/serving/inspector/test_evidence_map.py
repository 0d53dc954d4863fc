import io

import numpy as np
import pytest
import torch
from PIL import Image

from onepeak.data.batches import normalise
from onepeak.serving import load
from onepeak.serving.inspector.evidence_map import EvidenceMaps, overlay
from onepeak.serving.inspector.runs import find_runs


def pixels(content):
    return np.asarray(Image.open(io.BytesIO(content)))


def test_opacity_rises_from_the_lowest_to_the_highest_evidence():
    found = pixels(overlay(np.array([[-3.0, 5.0], [1.0, 1.0]], dtype=np.float32), (40, 40)))
    assert found.shape == (512, 512, 4)
    assert found[0, 0, 3] == 0
    assert found[0, -1, 3] == 255
    assert found[-1, 256, 3] == pytest.approx(127, abs=40)


def test_the_map_has_the_shape_of_the_picture_and_may_be_even():
    found = pixels(overlay(np.zeros((3, 3), dtype=np.float32), (200, 100)))
    assert found.shape == (256, 512, 4)
    assert found[..., 3].max() == 0


def test_the_map_is_the_networks_evidence_for_the_class(compared):
    run = find_runs(compared).runs[0]
    picture = Image.open(next((compared.parent / "data").rglob("*.png"))).convert("RGB")
    model = load(run.folder)
    batch = torch.tensor(np.asarray(picture)).permute(2, 0, 1)[None]
    with torch.inference_mode():
        evidence = model.network.class_evidence(normalise(batch), torch.tensor([3]))[0].numpy()
    found, wanted = (pixels(png)[..., 3] for png in (EvidenceMaps().png(run, picture, 3), overlay(evidence, (32, 32))))
    np.testing.assert_allclose(found.astype(int), wanted.astype(int), atol=1)  # the last bits may differ


def test_a_class_without_any_probability_in_a_place_has_least_evidence_there(compared, monkeypatch):
    run = find_runs(compared).runs[0]
    maps = EvidenceMaps()
    model = maps._model(run)
    found = torch.tensor([[[-torch.inf, -2.0], [1.0, 1.0]]])
    monkeypatch.setattr(model.network, "class_evidence", lambda *_: found)
    finite = overlay(np.array([[-2.0, -2.0], [1.0, 1.0]], dtype=np.float32), (32, 32))
    assert maps.png(run, Image.new("RGB", (32, 32)), 0) == finite


def test_few_models_stay_loaded(compared):
    maps, picture = EvidenceMaps(), Image.new("RGB", (32, 32))
    for run in find_runs(compared).runs:
        maps.png(run, picture, 0)
    assert len(maps._models) == 2
