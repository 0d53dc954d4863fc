import copy

import pytest
import torch

from onepeak.estimator import fitting
from onepeak.estimator.fitting import Table, fit_network, mean_loss, random_numbers, train_epoch
from onepeak.methods.catalog import method
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.training.optimizer import make_optimizer
from onepeak.training.recipe import Recipe


def make_network(name="elb", **settings):
    shape = NetworkSettings(backbone="mlp", num_features=2, hidden=(8,), **settings)
    return build_network(method(name, num_classes=3), shape, seed=0).double()


@pytest.fixture
def table():
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(30, 2, generator=generator, dtype=torch.float64)
    weights = torch.rand(30, generator=generator, dtype=torch.float64) + 0.5
    return Table(rows=rows, labels=(rows[:, 0] > 0).long() + (rows[:, 0] > 1).long(), weights=weights)


def test_one_batch_is_a_step_down_the_weighted_mean_of_the_losses(table):
    network, reference = make_network(), make_network()
    recipe = Recipe(optimizer="sgd", lr=0.1, momentum=0.0, weight_decay=0.0)
    order = torch.Generator().manual_seed(0)
    loss = train_epoch(network, table, make_optimizer(network, recipe), batch_size=30, order=order)
    losses = reference.method.sample_losses(reference(table.rows), table.labels)
    expected = (losses * table.weights).sum() / table.weights.sum()
    expected.backward()
    assert loss == pytest.approx(expected.item())
    for stepped, before in zip(network.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(stepped, before - 0.1 * before.grad)


def test_a_weight_means_the_same_in_every_batch(table):
    """With a rate too small to matter, the gradients of an epoch's batches average to that of the whole."""
    network, reference = make_network(), make_network()
    recipe = Recipe(optimizer="sgd", lr=1e-6, momentum=0.0, weight_decay=0.0)
    order = torch.Generator().manual_seed(0)
    train_epoch(network, table, make_optimizer(network, recipe), batch_size=7, order=order)  # the last batch has two
    losses = reference.method.sample_losses(reference(table.rows), table.labels)
    ((losses * table.weights).sum() / table.weights.sum()).backward()
    for stepped, before in zip(network.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close((before - stepped) / (5 * 1e-6), before.grad, rtol=1e-3, atol=1e-4)


def test_the_loss_of_samples_not_trained_on_changes_nothing(table):
    network = make_network(dropout=0.5)
    before = copy.deepcopy(network.state_dict())
    losses = network.eval().method.sample_losses(network(table.rows), table.labels)
    expected = (losses * table.weights).sum() / table.weights.sum()
    assert mean_loss(network.train(), table) == pytest.approx(expected.item())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_the_loss_of_many_samples_is_worked_out_in_parts(table, monkeypatch):
    network = make_network()
    whole = mean_loss(network, table)
    monkeypatch.setattr(fitting, "ROWS_A_BATCH", 5)
    assert mean_loss(network, table) == pytest.approx(whole)


def test_the_loss_before_the_first_step_is_known(table):
    network = make_network()
    before = mean_loss(network, table)
    assert fit_network(network, table, table, Recipe(epochs=1), seed=0).before == before


def test_the_barrier_is_tightened_once_an_epoch(table):
    network = make_network()
    fit_network(network, table, None, Recipe(epochs=4), seed=0)
    assert network.method.constraint.t.item() == pytest.approx(1.001**4)


def test_the_weights_kept_are_those_of_the_best_epoch(table):
    network = make_network()
    recipe = Recipe(epochs=30, lr=0.3, schedule="constant", patience=4)
    curves = fit_network(network, table, table, recipe, seed=0)
    assert curves.best_epoch == min(range(len(curves.valid)), key=curves.valid.__getitem__)
    assert mean_loss(network, table) == pytest.approx(curves.valid[curves.best_epoch])


def test_random_numbers_are_of_the_seed_and_those_outside_go_on():
    torch.manual_seed(0)
    with random_numbers(3, torch.device("cpu")) as order:
        first = torch.rand(2), torch.randperm(9, generator=order)
    outside = torch.rand(2)
    with random_numbers(3, torch.device("cpu")) as order:
        second = torch.rand(2), torch.randperm(9, generator=order)
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))
    torch.manual_seed(0)
    assert torch.equal(torch.rand(2), outside)
