import math

import numpy as np
import pytest
import torch
from torch import nn

import onepeak
from onepeak.data.manifest import LabelDistribution
from onepeak.metrics.catalog import DEFAULT_NAMES, collection
from onepeak.networks import AveragePooling, MapHead, Network, NetworkSettings, build_network
from onepeak.posterior.predictions import Predictions
from onepeak.serving import load
from onepeak.training.evaluate import (
    MOST_MAPS,
    answers,
    evidence_range,
    measure,
    measure_against,
    measured_names,
    predict,
    validate,
)
from onepeak.training.feed import Feed
from trained_models import image_run, table_run
from training.planted import CLASSES, RECIPE


@pytest.fixture
def network():
    settings = NetworkSettings(backbone="mlp", num_features=6, hidden=(8,), dropout=0.5)
    return build_network(onepeak.method("elb", num_classes=len(CLASSES)), settings, seed=1)


@pytest.fixture
def feed(table, split):
    return table.feed(split, RECIPE, torch.device("cpu"))[0]


@pytest.fixture
def labels(table):
    return torch.from_numpy(table.manifest.labels)


@pytest.mark.parametrize("batch_size", [1, 7, 100])
def test_predictions_come_in_the_order_asked_for_whatever_the_batches(network, feed, labels, fabric, batch_size):
    indices = np.array([50, 3, 99, 0, 17, 42, 8, 23])
    found = predict(network.train(), feed, indices, labels, fabric=fabric, batch_size=batch_size)
    with torch.no_grad():
        outputs = network.eval()(feed.rows[torch.tensor(indices)])
    torch.testing.assert_close(found.log_probs, network.method.log_probs(outputs))
    assert found.predicted_index.tolist() == network.method.predict(outputs).tolist()
    assert found.truth.tolist() == labels[torch.tensor(indices)].tolist()
    assert found.items.tolist() == indices.tolist()


@pytest.mark.parametrize("batch_size", [3, 100])
def test_validation_measures_what_the_predictions_measure(network, feed, labels, fabric, split, batch_size):
    metrics = collection(len(CLASSES))
    for _ in range(2):  # what an earlier epoch counted is forgotten
        said = answers(network, feed, split.valid, labels, fabric=fabric, batch_size=batch_size)
        found = validate(network.method, said, metrics, fabric=fabric)
    kept = predict(network, feed, split.valid, labels, fabric=fabric, batch_size=100)
    expected = measure(kept)
    assert expected.keys() == set(DEFAULT_NAMES)
    with torch.no_grad():
        outputs = network(feed.rows[torch.tensor(split.valid)])
        loss = network.method.loss(outputs, kept.truth)
    assert found == pytest.approx(expected | {"loss": float(loss)}, rel=1e-5, abs=1e-6, nan_ok=True)


def test_the_loss_of_weighted_classes_is_a_mean_by_weight_as_in_training(feed, labels, fabric, split):
    weighted = onepeak.method("elb", num_classes=len(CLASSES), class_weight=torch.linspace(1, 10, len(CLASSES)))
    network = build_network(weighted, NetworkSettings(backbone="mlp", num_features=6, hidden=(8,)), seed=1)
    said = answers(network, feed, split.valid, labels, fabric=fabric, batch_size=3)
    found = validate(weighted, said, collection(len(CLASSES)), fabric=fabric)
    with torch.no_grad():
        outputs = network.eval()(feed.rows[torch.tensor(split.valid)])
    assert found["loss"] == pytest.approx(float(weighted.loss(outputs, labels[torch.tensor(split.valid)])), rel=1e-5)


def test_of_a_network_that_has_diverged_only_the_loss_is_told(network, feed, labels, fabric, split):
    with torch.no_grad():
        next(network.parameters()).fill_(torch.nan)
    metrics = collection(len(CLASSES))
    said = answers(network, feed, split.valid, labels, fabric=fabric, batch_size=8)
    found = validate(network.method, said, metrics, fabric=fabric)
    assert found.keys() == {"loss"}
    assert np.isnan(found["loss"])


def test_a_training_measures_the_default_metrics_and_the_one_it_selects_by():
    assert measured_names("loss") == measured_names("mae") == DEFAULT_NAMES
    assert measured_names("geometric_sensitivity") == (*DEFAULT_NAMES, "geometric_sensitivity")


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
    others = torch.zeros(
        11
    ).long()  # the scale is of the class that was predicted; others have none, and it is one long
    assert evidence_range(network_of("ce"), feed, np.arange(11), others, fabric=fabric, batch_size=batch_size) == (0, 1)


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
    assert len(set(feed.asked)) == len(feed.asked) == MOST_MAPS
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
    labels = model.answers(images).predicted_index
    highest = model.evidence(images, labels).amax(dim=(1, 2)).numpy()
    assert len(images) <= MOST_MAPS
    expected = max(float(np.quantile(highest, 0.9)), 1.0)
    assert model.description.evidence_range == (0.0, pytest.approx(expected, rel=1e-3))


def test_against_several_raters_every_figure_is_as_worked_by_hand():
    ratings = np.array([[0, 1], [2, 2], [1, -1], [2, 0]])
    votes = (ratings[:, :, None] == np.arange(3)).sum(axis=1).astype(float)
    probs = torch.tensor([[1.0, 0, 0], [0, 0, 1], [0, 0.5, 0.5], [0, 0, 1]])
    found = Predictions(predicted_index=torch.tensor([0, 2, 1, 2]), log_probs=probs.log())
    measured = measure_against(found, LabelDistribution.of(votes, columns=("ann", "bob"), ratings=ratings))
    assert measured["expected_mae"] == pytest.approx((0.5 + 0 + 0 + 1) / 4)
    assert measured["rps"] == pytest.approx((0.25 + 0 + 0.25 + 0.5) / 4)
    ann, bob = measured["raters"]["ann"], measured["raters"]["bob"]
    assert (ann["samples"], ann["model_accuracy"], ann["model_qwk"]) == (4, 1.0, 1.0)
    assert (bob["samples"], bob["model_accuracy"]) == (3, pytest.approx(1 / 3))
    assert ann["raters_accuracy"] == bob["raters_accuracy"] == pytest.approx(1 / 3)
    assert ann["raters_qwk"] == bob["raters_qwk"]
    assert ann["raters_qwk"] == pytest.approx(1 - (1 + 0 + 4) / ((5 + 5 + 5) / 3), abs=1e-12)


def test_certain_distributions_measure_what_labels_measure(network, feed, labels, fabric, split):
    metrics = collection(len(CLASSES))
    certain = torch.nn.functional.one_hot(labels, len(CLASSES)).float()
    of_labels, of_probs = (
        validate(
            network.method,
            answers(network, feed, split.valid, truth, fabric=fabric, batch_size=7),
            metrics,
            fabric=fabric,
        )
        for truth in (labels, certain)
    )
    assert of_probs.pop("expected_mae") == pytest.approx(of_labels["mae"])
    assert of_probs == pytest.approx(of_labels, rel=1e-5, nan_ok=True)
    kept = predict(network, feed, split.valid, labels, fabric=fabric, batch_size=7)
    against = measure_against(
        kept, LabelDistribution.of(certain[torch.tensor(split.valid)].double().numpy(), columns=CLASSES)
    )
    expected = measure(kept)
    assert against == pytest.approx({"expected_mae": expected["mae"], "rps": expected["rps"]}, rel=1e-5)
