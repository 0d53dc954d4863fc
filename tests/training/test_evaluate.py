from dataclasses import replace

import numpy as np
import pytest
import torch

import onepeak
from onepeak.metrics.catalog import DEFAULT_NAMES, collection
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.posterior.predictions import Predictions
from onepeak.training.evaluate import answers, measure, measured_names, predict, validate
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


def test_measuring_by_hand():
    log_probs = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.2, 0.6]]).log()
    said = Predictions(
        items=np.arange(3), truth=torch.tensor([0, 1, 0]), predicted_index=torch.tensor([0, 2, 2]), log_probs=log_probs
    )
    assert measure(said)["mae"] == 1.0
    assert measure(said)["accuracy"] == pytest.approx(1 / 3)
    right = replace(said, predicted_index=said.truth)
    assert measure(right)["mae"] == 0.0
