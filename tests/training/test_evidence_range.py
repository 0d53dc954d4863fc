import math

import numpy as np
import pytest
import torch
from torch import nn

import onepeak
from onepeak.networks import AveragePooling, MapHead, Network, NetworkSettings, build_network
from onepeak.serving import load
from onepeak.training.evidence_range import MOST_PICTURES, evidence_range
from onepeak.training.feed import Feed
from trained_models import picture_run, table_run


class Arrays(Feed):
    """Pictures that are maps already, and a note of which were asked for."""

    train_inputs = train_plan = planned_inputs = None  # not needed to look at them

    def __init__(self, pictures):
        self.pictures, self.asked = pictures, []

    def evaluation_inputs(self, indices, *, batch_size):
        self.asked.extend(indices.tolist())
        for places in torch.arange(len(indices)).split(batch_size):
            yield places, self.pictures[indices[places.numpy()]]


def network_of(name):
    """Three classes whose maps are the colours of the picture."""
    method = onepeak.method(name, num_classes=3)
    head = MapHead(3, method.num_outputs, pooling=AveragePooling())
    with torch.no_grad():
        head.classifier.weight.copy_(torch.eye(method.num_outputs, 3)[..., None, None])
        head.classifier.bias.zero_()
    return Network(nn.Identity(), head, method).eval()


def pictures_with(*strengths):
    """In each the second class has so much more than both others at one place, and half of it at another."""
    pictures = torch.zeros(len(strengths), 3, 2, 2)
    pictures[:, 1, 0, 1] = torch.tensor(strengths)
    pictures[:, 1, 1, 1] = torch.tensor(strengths) / 2
    return pictures


@pytest.mark.parametrize("batch_size", [2, 100])
def test_the_scale_ends_where_nine_of_ten_pictures_do_at_their_highest_place(fabric, batch_size):
    feed = Arrays(pictures_with(*range(3, 36, 3)))  # less the mean over classes, two thirds: 2, 4 ... 22
    found = evidence_range(
        network_of("ce"), feed, np.arange(11), torch.ones(11).long(), fabric=fabric, batch_size=batch_size
    )
    assert found == (0.0, pytest.approx(20))


def test_the_scale_is_of_the_class_that_was_predicted_in_each_picture(fabric):
    feed = Arrays(pictures_with(9.0, 9.0))
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


def test_some_of_many_pictures_are_looked_at_the_first_and_the_last_among_them(fabric):
    feed = Arrays(pictures_with(*[6.0] * 300))
    indices = np.arange(299, -1, -1)
    evidence_range(network_of("ce"), feed, indices, torch.ones(300).long(), fabric=fabric, batch_size=50)
    assert len(set(feed.asked)) == len(feed.asked) == MOST_PICTURES
    assert (feed.asked[0], feed.asked[-1]) == (299, 0)


def test_without_maps_or_pictures_there_is_no_scale(fabric):
    none = torch.tensor([]).long()
    assert evidence_range(network_of("ce"), Arrays(None), np.array([], int), none, fabric=fabric, batch_size=1) is None
    rows = build_network(onepeak.method("ce", num_classes=3), NetworkSettings(backbone="mlp", num_features=2))
    assert evidence_range(rows, Arrays(None), np.array([0]), none, fabric=fabric, batch_size=1) is None
    assert load(table_run().folder).description.evidence_range is None


def test_a_model_keeps_the_scale_of_its_validation_pictures():
    run = picture_run()
    model = load(run.folder)
    pictures = [model.pixels(run.manifest.items.pixels[item]) for item in run.split.valid]
    labels, _ = model.answers(pictures)
    highest = model.evidence(pictures, labels).amax(dim=(1, 2)).numpy()
    assert len(pictures) <= MOST_PICTURES
    expected = max(float(np.quantile(highest, 0.9)), 1.0)
    assert model.description.evidence_range == (0.0, pytest.approx(expected, rel=1e-3))
