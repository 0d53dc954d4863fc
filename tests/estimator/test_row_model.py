import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from onepeak.errors import InputError
from onepeak.estimator.row_model import NetworkPlan, RowModel
from onepeak.estimator.rows import LabelledRows
from onepeak.training.recipe import Recipe


def make_model(**settings):
    plan = NetworkPlan(
        method="ce",
        variant="corrected",
        method_settings={},
        num_classes=3,
        num_features=2,
        hidden=(4,),
        dropout=0.0,
        backbone=None,
    )
    settings = {"standardize": True, "dtype": torch.float64, "device": torch.device("cpu"), "seed": 0} | settings
    return RowModel(plan, Recipe(epochs=2), **settings)


@pytest.fixture
def samples():
    rows = np.random.default_rng(0).normal(size=(12, 2)) * 100
    return LabelledRows(rows=rows, labels=np.arange(12) % 3, weights=np.arange(12.0) + 1)


def test_the_scale_of_the_columns_is_that_of_the_weighted_training_samples(samples):
    model = make_model()
    model.fit(samples, None, verbose=False)
    mean = np.average(samples.rows, axis=0, weights=samples.weights)
    deviation = np.sqrt(np.average((samples.rows - mean) ** 2, axis=0, weights=samples.weights))
    expected = model.network(torch.tensor((samples.rows - mean) / deviation)).log_softmax(dim=-1)
    torch.testing.assert_close(model.answers(samples.rows)[0], expected.detach())


def test_parts_of_a_table_teach_the_scale_of_the_whole(samples):
    model = make_model()
    for epoch, places in enumerate((np.arange(5), np.arange(5, 12))):
        model.go_on(samples.take(places), Recipe(), epoch=epoch)
    mean = np.average(samples.rows, axis=0, weights=samples.weights)
    np.testing.assert_allclose(model.scaler.mean_, mean)


PLAN = NetworkPlan(
    method="slopes",
    variant="corrected",
    method_settings={"weight": 0.5},
    num_classes=4,
    num_features=3,
    hidden=(64, 64),
    dropout=0.0,
    backbone=None,
)


def test_the_network_is_a_perceptron_for_the_columns_and_the_methods_outputs():
    network = replace(PLAN, hidden=[8, 5], dropout=0.1).build(seed=0)
    assert [tuple(weight.shape) for weight in network.parameters() if weight.ndim == 2] == [(8, 3), (5, 8), (3, 5)]
    assert network.method.weight == 0.5
    assert network(torch.zeros(2, 3)).shape == (2, 3)


@pytest.mark.bad_input
def test_a_module_for_other_rows_is_told_of():
    with pytest.raises(InputError, match=r"`backbone` must return feature maps .* or features"):
        replace(PLAN, backbone=nn.Flatten(0)).build(seed=0)


def test_a_pickled_network_with_shared_weights_and_its_optimiser_come_back_to_the_last_bit(samples):
    layer = nn.Linear(2, 2).double()
    model = make_model()
    model.plan = replace(model.plan, backbone=nn.Sequential(layer, layer), hidden=(64, 64))
    model.network = model.plan.build(seed=0).double()
    model.go_on(samples, Recipe(), epoch=0)
    copy = pickle.loads(pickle.dumps(model))
    for one, other in zip(copy.network.parameters(), model.network.parameters(), strict=True):
        assert torch.equal(one, other)
    states = (each.optimizer.state_dict()["state"] for each in (copy, model))
    for found, expected in zip(*(state.values() for state in states), strict=True):
        assert found.keys() == expected.keys()
        assert all(torch.equal(found[name], expected[name]) for name in expected)
