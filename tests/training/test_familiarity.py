import shutil
from functools import partial

import numpy as np
import pytest
import torch

from onepeak.errors import InputError
from onepeak.serving import load
from onepeak.training import familiarity
from onepeak.training.devices import make_fabric
from onepeak.training.evaluate import predict
from onepeak.training.familiarity import FILE, Familiarity, familiarity_of, load_familiarity, save_familiarity
from onepeak.training.predictions_file import part_predictions, write_predictions
from trained_models import image_run


@pytest.fixture
def trained():
    return image_run()


def test_the_distance_is_the_angle_to_the_nearest_reference_whatever_the_length():
    known = Familiarity(references=torch.tensor([[1.0, 0.0], [0.7, 0.7]]).half(), threshold=0.5)
    features = torch.tensor([[9.0, 0.0], [1e-3, 1e-3], [0.0, 2.0], [-1.0, 0.0]])
    angles = torch.tensor([0.0, 0.0, torch.pi / 4, 3 * torch.pi / 4])
    torch.testing.assert_close(known.distance(features), 2 * (angles / 2).sin() / 0.5, atol=2e-3, rtol=1e-3)


def learnt(trained, train, valid):
    feed, _ = trained.prepared.feed(trained.split, trained.recipe, torch.device("cpu"))
    network = load(trained.folder).network
    return familiarity_of(network, feed, train, valid, fabric=make_fabric(device="cpu"), batch_size=8)


@pytest.fixture
def model(trained, monkeypatch):
    """A model of few validation images, of which one in ten may be beyond the threshold."""
    monkeypatch.setattr(familiarity, "FALSE_MARKS", 0.1)
    found = load(trained.folder)
    found.familiarity = learnt(trained, trained.split.train, trained.split.valid)
    return found


def test_few_validation_images_lie_beyond_one_and_foreign_images_all_do(model, trained):
    pixels = trained.manifest.items.pixels
    own = model.predict(pixels[trained.split.valid]).distance
    assert (own > 1).sum() <= len(own) // 10 + 1
    assert own.max() >= 1
    assert (model.predict(pixels[trained.split.train]).distance < 0.1).all()
    noise = np.random.default_rng(0).integers(0, 256, (5, 64, 64, 3), dtype=np.uint8)
    found = model.predict(noise)
    assert (found.distance > 1).all()
    assert all("features" in each for each in found.unlike)
    assert "features (5)" in found.notes[0]
    assert found[0].distance == pytest.approx(float(found.distance[0]), abs=1e-4)


def test_a_run_keeps_the_distance_of_its_test_samples_and_where_they_lie(model, trained, tmp_path):
    feed, _ = trained.prepared.feed(trained.split, trained.recipe, torch.device("cpu"))
    labels, fabric = torch.from_numpy(trained.manifest.labels), make_fabric(device="cpu")
    ask = partial(predict, model.network, feed, labels=labels, fabric=fabric, batch_size=8)
    parts = {"valid": ask(trained.split.valid), "test": ask(trained.split.test, familiarity=model.familiarity)}
    write_predictions(parts, trained.manifest.items, tmp_path)
    assert part_predictions(tmp_path, "valid").distance is None
    kept = part_predictions(tmp_path, "test")
    asked = model.predict(trained.manifest.items.pixels[trained.split.test])
    torch.testing.assert_close(kept.distance, asked.distance, atol=1e-3, rtol=1e-3)
    axes = kept.coordinates.shape[1]
    assert len(kept) == len(kept.coordinates)
    assert 2 <= axes <= 16
    references = model.familiarity.coordinates(model.familiarity.references)
    torch.testing.assert_close(references.mean(dim=0), torch.zeros(axes), atol=1e-3, rtol=0)
    spread = references.std(dim=0)
    assert (spread[1:] <= spread[:-1] + 1e-6).all()


def test_too_few_images_teach_nothing(trained):
    assert learnt(trained, trained.split.train, trained.split.valid) is None
    assert learnt(trained, trained.split.train[:29], trained.split.train) is None
    assert learnt(trained, trained.split.train, trained.split.train).threshold == familiarity._LEAST


def test_the_file_comes_back_and_a_damaged_one_is_told(tmp_path):
    known = Familiarity(references=torch.tensor([[0.5, -0.25]]).half(), threshold=0.25)
    save_familiarity(tmp_path, known)
    found = load_familiarity(tmp_path)
    assert torch.equal(found.references, known.references)
    assert found.threshold == 0.25
    (tmp_path / FILE).write_bytes(b"cut off")
    with pytest.raises(InputError, match="got a file that cannot be read"):
        load_familiarity(tmp_path)
    save_familiarity(tmp_path, None)
    assert load_familiarity(tmp_path) is None


def test_a_model_answers_the_same_with_and_without_and_a_folder_keeps_it(model, trained, tmp_path):
    pixels = trained.manifest.items.pixels[:3]
    shutil.copytree(trained.folder, tmp_path / "model")
    without = load(tmp_path / "model").predict(pixels)
    assert without.distance is None
    assert [row.distance for row in without] == [None] * 3
    save_familiarity(tmp_path / "model", model.familiarity)
    again = load(tmp_path / "model").predict(pixels)
    assert torch.equal(again.log_probs, without.log_probs)
    assert torch.equal(again.distance, model.predict(pixels).distance)
