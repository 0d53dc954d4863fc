from functools import partial

import numpy as np
import pytest
import torch

from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.images.store.build import build_store
from onepeak.data.manifest import ImageArrays
from onepeak.errors import InputError
from onepeak.serving import load
from onepeak.training import familiarity
from onepeak.training.devices import make_fabric
from onepeak.training.evaluate import predict
from onepeak.training.familiarity import (
    FILE,
    Familiarity,
    ImageRange,
    familiarity_of,
    image_statistics,
    load_familiarity,
    save_familiarity,
)
from onepeak.training.predictions_file import part_predictions, write_predictions
from reference import image_statistics as reference
from trained_models import changeable, image_run


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
    assert own.max() == pytest.approx(1, abs=1e-4)  # the sample that sets the threshold, up to rounding
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
    assert learnt(trained, trained.split.train, trained.split.train).threshold == familiarity._LEAST_THRESHOLD


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
    changeable(trained.folder, tmp_path / "model")
    without = load(tmp_path / "model").predict(pixels)
    assert without.distance is None
    assert [row.distance for row in without] == [None] * 3
    save_familiarity(tmp_path / "model", model.familiarity)
    again = load(tmp_path / "model").predict(pixels)
    assert torch.equal(again.log_probs, without.log_probs)
    assert torch.equal(again.distance, model.predict(pixels).distance)


SIDE = 64


def flat(value):
    return np.full((SIDE, SIDE, 3), value, np.uint8)


@pytest.fixture
def learn(tmp_path):
    """The range of images, all of them or those at some positions."""

    def learnt(images, positions=None):
        store = build_store(ImageArrays(pixels=np.stack(images)), cache_dir=tmp_path, progress=False)
        return ImageRange.learn(store, np.arange(len(store)) if positions is None else np.array(positions))

    return learnt


@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (3, 1), (1, 9), (255, 4)])
def test_statistics_are_those_of_the_definition(shape):
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    expected = reference.image_statistics(image.tolist())
    assert image_statistics(image) == pytest.approx(expected, abs=1e-5)


def test_of_many_rows_some_are_looked_at():
    image = np.random.default_rng(0).integers(0, 256, (256, 4, 3), np.uint8)
    assert image_statistics(image) == image_statistics(image[::2])
    assert image_statistics(image) != image_statistics(image[1::2])


def test_a_image_is_outside_beyond_a_width_of_what_nine_in_ten_are(learn):
    known = learn([flat(100 + number) for number in range(41)])
    assert known.num_images == 41
    assert known.ends["brightness"] == pytest.approx((102, 138))
    assert known.ends["contrast"] == known.ends["grain"] == known.ends["redness"] == (0, 0)
    told = {value: known.outside(flat(value)) for value in (65, 66, 120, 174, 175)}
    assert told == {65: ("brightness",), 66: (), 120: (), 174: (), 175: ("brightness",)}


def test_images_that_are_all_alike_leave_room_for_eight_shades(learn):
    known = learn([flat(100)] * 30)
    assert learn([flat(100)] * 30, range(29)) is None  # of few images nothing is known
    assert (known.outside(flat(92)), known.outside(flat(108))) == ((), ())
    assert known.outside(flat(109)) == ("brightness",)
    tinted = flat(100)
    tinted[..., 0] += 9
    assert known.outside(tinted) == ("redness",)


def test_five_hundred_of_many_are_looked_at_from_the_first_to_the_last(tmp_path):
    pixels = np.zeros((1000, 2, 2, 3), np.uint8)
    pixels[200:400], pixels[900:] = 100, 200
    store = build_store(ImageArrays(pixels=pixels), cache_dir=tmp_path, progress=False)
    known = ImageRange.learn(store, np.arange(200, 1000))
    assert known.num_images == 500
    assert known.ends["brightness"] == (0, 200)


def test_odd_images_in_the_training_make_no_others_usual(learn):
    images = [*biopsies(60).items.pixels, flat(255), flat(0)]
    assert learn(images).outside(flat(255)) == learn(images[:60]).outside(flat(255)) != ()


def test_other_things_are_told_and_new_patients_are_not(learn):
    pixels = biopsies(600).items.pixels
    known = learn(pixels, range(300))
    assert sum(bool(known.outside(image)) for image in pixels[300:]) < 3  # of 300: less than one per cent
    rng = np.random.default_rng(0)
    noise, grey = rng.integers(0, 256, (SIDE, SIDE, 3), np.uint8), rng.integers(0, 256, (SIDE, SIDE, 1), np.uint8)
    glass = np.clip(rng.normal(243, 2, (SIDE, SIDE, 3)), 0, 255).astype(np.uint8)
    for other in (flat(255), flat(0), flat(128), noise, grey.repeat(3, axis=-1), glass, 255 - pixels[0]):
        assert known.outside(other) != ()
    assert {"contrast", "grain"} <= {*known.outside(flat(0)), *known.outside(noise)}


@pytest.mark.bad_input
def test_a_range_of_other_statistics_is_refused():
    with pytest.raises(InputError, match="`ends` must be given for brightness, contrast, grain, redness, yellowness"):
        ImageRange(num_images=30, ends={"brightness": (0.0, 1.0)})
