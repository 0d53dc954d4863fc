import math

import numpy as np
import pytest
import torch
from torch import nn

import onepeak
from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.images.store.build import build_store
from onepeak.data.manifest import ImageArrays
from onepeak.networks import AveragePooling, MapHead, Network, NetworkSettings, build_network
from onepeak.serving import load
from onepeak.training.feed import Feed
from onepeak.training.image_range import MOST_IMAGES, ImageRange, evidence_range, image_statistics
from reference import image_statistics as reference
from trained_models import image_run, table_run

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


def test_a_mirrored_image_has_the_same_statistics():
    image = np.random.default_rng(1).integers(0, 256, (9, 7, 3), np.uint8)
    assert image_statistics(image[::-1, ::-1]) == pytest.approx(image_statistics(image), abs=1e-5)


def test_a_image_is_outside_beyond_a_width_of_what_nine_in_ten_are(learn):
    known = learn([flat(100 + number) for number in range(41)])
    assert known.num_images == 41
    assert known.ends["brightness"] == pytest.approx((102, 138))
    assert known.ends["contrast"] == known.ends["grain"] == known.ends["redness"] == (0, 0)
    told = {value: known.outside(flat(value)) for value in (65, 66, 120, 174, 175)}
    assert told == {65: ("brightness",), 66: (), 120: (), 174: (), 175: ("brightness",)}


def test_images_that_are_all_alike_leave_room_for_eight_shades(learn):
    known = learn([flat(100)] * 40)
    assert (known.outside(flat(92)), known.outside(flat(108))) == ((), ())
    assert known.outside(flat(109)) == ("brightness",)
    tinted = flat(100)
    tinted[..., 0] += 9
    assert known.outside(tinted) == ("redness",)


def test_of_few_images_nothing_is_known(learn):
    images = [flat(100)] * 30
    assert learn(images).num_images == 30
    assert learn(images, range(29)) is None


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
    with pytest.raises(TypeError, match="ends must be given for brightness, contrast, grain, redness, yellowness"):
        ImageRange(num_images=30, ends={"brightness": (0.0, 1.0)})


class Arrays(Feed):
    """Images that are maps already, and a note of which were asked for."""

    train_inputs = train_plan = planned_inputs = None  # not needed to look at them

    def __init__(self, images):
        self.images, self.asked = images, []

    def evaluation_inputs(self, indices, *, batch_size):
        self.asked.extend(indices.tolist())
        for places in torch.arange(len(indices)).split(batch_size):
            yield places, self.images[indices[places.numpy()]]


def network_of(name):
    """Three classes whose maps are the colours of the image."""
    method = onepeak.method(name, num_classes=3)
    head = MapHead(3, method.num_outputs, pooling=AveragePooling())
    with torch.no_grad():
        head.classifier.weight.copy_(torch.eye(method.num_outputs, 3)[..., None, None])
        head.classifier.bias.zero_()
    return Network(nn.Identity(), head, method).eval()


def images_with(*strengths):
    """In each the second class has so much more than both others at one place, and half of it at another."""
    images = torch.zeros(len(strengths), 3, 2, 2)
    images[:, 1, 0, 1] = torch.tensor(strengths)
    images[:, 1, 1, 1] = torch.tensor(strengths) / 2
    return images


@pytest.mark.parametrize("batch_size", [2, 100])
def test_the_scale_ends_where_nine_of_ten_images_do_at_their_highest_place(fabric, batch_size):
    feed = Arrays(images_with(*range(3, 36, 3)))  # less the mean over classes, two thirds: 2, 4 ... 22
    found = evidence_range(
        network_of("ce"), feed, np.arange(11), torch.ones(11).long(), fabric=fabric, batch_size=batch_size
    )
    assert found == (0.0, pytest.approx(20))


def test_the_scale_is_of_the_class_that_was_predicted_in_each_image(fabric):
    feed = Arrays(images_with(9.0, 9.0))
    [low, high] = evidence_range(
        network_of("ce"), feed, np.array([1, 0]), torch.tensor([0, 0]), fabric=fabric, batch_size=2
    )
    assert (low, high) == (0.0, 1.0)  # others have none, and a scale is one long at least


def test_without_class_scores_the_scale_begins_at_the_probability_of_chance(fabric):
    feed = Arrays(torch.tensor([0.0, 4.0, -4.0]).expand(1, 2, 2, 3).movedim(-1, 1))
    low, high = evidence_range(network_of("ren"), feed, np.array([0]), torch.tensor([1]), fabric=fabric, batch_size=1)
    assert low == pytest.approx(math.log(1 / 3), abs=1e-3)
    level = 1 / (1 + math.exp(-4))  # above the first class; as much is missing above the second
    assert high == pytest.approx(math.log(level - (1 - level)), abs=1e-3)


def test_some_of_many_images_are_looked_at_the_first_and_the_last_among_them(fabric):
    feed = Arrays(images_with(*[6.0] * 300))
    indices = np.arange(299, -1, -1)
    evidence_range(network_of("ce"), feed, indices, torch.ones(300).long(), fabric=fabric, batch_size=50)
    assert len(set(feed.asked)) == len(feed.asked) == MOST_IMAGES
    assert (feed.asked[0], feed.asked[-1]) == (299, 0)


def test_without_maps_or_images_there_is_no_scale(fabric):
    none = torch.tensor([]).long()
    assert evidence_range(network_of("ce"), Arrays(None), np.array([], int), none, fabric=fabric, batch_size=1) is None
    rows = build_network(onepeak.method("ce", num_classes=3), NetworkSettings(backbone="mlp", num_features=2))
    assert evidence_range(rows, Arrays(None), np.array([0]), none, fabric=fabric, batch_size=1) is None
    assert load(table_run().folder).description.evidence_range is None


def test_a_model_keeps_the_scale_of_its_validation_images():
    run = image_run()
    model = load(run.folder)
    images = [model.pixels(run.manifest.items.pixels[item]) for item in run.split.valid]
    labels, _, _ = model.answers(images)
    highest = model.evidence(images, labels).amax(dim=(1, 2)).numpy()
    assert len(images) <= MOST_IMAGES
    expected = max(float(np.quantile(highest, 0.9)), 1.0)
    assert model.description.evidence_range == (0.0, pytest.approx(expected, rel=1e-3))
