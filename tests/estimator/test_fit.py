import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import expit

import onepeak
from onepeak.estimator import fit
from onepeak.estimator.fit import (
    DeviceRows,
    fit_full_batch,
    fit_network,
    mean_loss,
    progress,
    suits_full_batch,
    train_epoch,
)
from onepeak.methods.catalog import method
from onepeak.methods.method import SoftmaxMethod
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.network import Network
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
    return DeviceRows(rows=rows, labels=(rows[:, 0] > 0).long() + (rows[:, 0] > 1).long(), weights=weights)


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


def test_the_bar_is_on_stderr_where_it_is_asked_for_and_full_at_the_end_unless_the_fit_fails(capsys):
    with progress(3, of="epochs", verbose=False) as done:
        done(1)
    assert capsys.readouterr() == ("", "")
    with progress(100, of="epochs", verbose=True) as done:
        done(7)
    output, errors = capsys.readouterr()
    assert output == ""
    assert re.search(r"epochs .* 100%", errors)
    with pytest.raises(ValueError, match="no more"), progress(100, of="epochs", verbose=True) as done:  # noqa: PT012
        done(7)
        raise ValueError("no more")
    assert re.search(r"epochs .* 7%", capsys.readouterr().err)


def linear(method="clm", dtype=torch.float64):
    made = onepeak.method(method, num_classes=4) if isinstance(method, str) else method
    return build_network(made, NetworkSettings(backbone="mlp", num_features=3, hidden=()), seed=0).to(dtype)


@pytest.fixture
def grades():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    labels = np.digitize(rows @ [2.0, -1.0, 0.0] + rng.logistic(size=200), [-2, 0, 1])
    weights = rng.uniform(0.5, 3, size=200)
    return DeviceRows(rows=torch.tensor(rows), labels=torch.tensor(labels), weights=torch.tensor(weights))


def cumulative(parameters, rows):
    """The probabilities of proportional odds: three weights of columns, the first threshold, two log-distances."""
    thresholds = parameters[3] + np.concatenate([[0], np.cumsum(np.exp(parameters[4:]))])
    at_most = expit(thresholds - (rows @ parameters[:3])[:, None])
    return np.diff(np.pad(at_most, ((0, 0), (1, 1)), constant_values=(0, 1)), axis=1)


def by_scipy(table, weight_decay):
    """The probabilities at the penalised maximum likelihood."""
    rows, labels, weights = (part.numpy() for part in (table.rows, table.labels, table.weights))

    def objective(parameters):
        of_label = cumulative(parameters, rows)[np.arange(len(rows)), labels]
        return -(weights * np.log(of_label)).sum() + weight_decay / 2 * (parameters[:3] ** 2).sum()

    start = np.array([0.0, 0, 0, -1, 0, 0])
    found = minimize(objective, start, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-7})
    return cumulative(found.x, rows)


def posterior(network, table):
    with torch.no_grad():
        return network.method.log_probs(network(table.rows.to(next(network.parameters()).dtype))).exp().numpy()


@pytest.mark.parametrize("weight_decay", [0.0, 0.1, 50.0])
def test_proportional_odds_have_the_weighted_penalised_maximum_likelihood(grades, weight_decay):
    network = linear()
    curves = fit_full_batch(network, grades, weight_decay=weight_decay)
    assert curves.converged
    assert not network.training
    np.testing.assert_allclose(posterior(network, grades), by_scipy(grades, weight_decay), atol=1e-4)


def test_validation_samples_choose_the_penalty(grades):
    few = DeviceRows(
        rows=grades.rows[:60], labels=3 - grades.labels[:60], weights=grades.weights[:60]
    )  # the wrong way round
    chosen, alone = linear(), linear()
    curves = fit_full_batch(chosen, few, grades, weight_decay=0.1)
    assert curves.weight_decay == 100.0
    assert len(curves.valid) == 2  # the next penalty was worse
    assert curves.valid[0] == pytest.approx(mean_loss(chosen, grades))
    fit_full_batch(alone, few, weight_decay=100.0)
    np.testing.assert_allclose(posterior(chosen, grades), posterior(alone, grades), atol=1e-4)


def test_of_true_samples_they_choose_the_weakest_and_of_no_penalty_none(grades):
    assert fit_full_batch(linear(), grades, grades, weight_decay=0.1).weight_decay == 0.1
    free = fit_full_batch(linear(), grades, grades, weight_decay=0.0)
    assert (free.weight_decay, len(free.valid)) == (0.0, 1)


def test_weights_that_sum_to_one_do_not_flatten_the_model(grades):
    ones, shares = linear(), linear()
    equal = torch.ones(200, dtype=torch.float64)
    fit_full_batch(ones, replace(grades, weights=equal), weight_decay=5.0)
    fit_full_batch(shares, replace(grades, weights=equal / 200), weight_decay=5.0)
    np.testing.assert_allclose(posterior(shares, grades), posterior(ones, grades), atol=1e-6)


def test_a_search_that_gets_stuck_on_columns_of_very_different_size_has_not_converged(grades):
    sizes, shifts = torch.tensor([1.0, 1e5, 1.0]).double(), torch.tensor([0.0, 3e5, 0.0]).double()
    unscaled = replace(grades, rows=grades.rows * sizes + shifts)
    assert not fit_full_batch(linear("ce"), unscaled, weight_decay=0.1).converged
    assert fit_full_batch(linear("ce"), grades, weight_decay=0.1).converged


def test_a_large_table_is_passed_in_parts(grades, monkeypatch):
    whole, parts = linear(), linear()
    fit_full_batch(whole, grades, weight_decay=0.1)
    monkeypatch.setattr(fit, "ROWS_A_PART", 64)
    most = []
    forward = Network.forward
    monkeypatch.setattr(Network, "forward", lambda self, rows: most.append(len(rows)) or forward(self, rows))
    fit_full_batch(parts, grades, weight_decay=0.1)
    assert max(most) == 64
    np.testing.assert_allclose(posterior(parts, grades), posterior(whole, grades), atol=1e-6)


def test_float32_rows_are_fitted_in_float64(grades):
    double, single = linear(), linear(dtype=torch.float32)
    fit_full_batch(double, grades, weight_decay=0.1)
    fit_full_batch(single, replace(grades, rows=grades.rows.float(), weights=grades.weights.float()), weight_decay=0.1)
    assert {each.dtype for each in single.parameters()} == {torch.float32}
    np.testing.assert_allclose(posterior(single, grades), posterior(double, grades), atol=1e-5)


def test_a_loss_with_kinks_converges_too(grades):
    curves = fit_full_batch(linear("hinge"), grades, weight_decay=0.1)
    assert curves.converged
    assert curves.train[-1] == pytest.approx(min(curves.train), abs=1e-3)


class Noisy(SoftmaxMethod):
    """A method of the user's own with a random loss."""

    def sample_losses(self, outputs, labels):
        noise = torch.rand(len(outputs), dtype=outputs.dtype)
        return torch.nn.functional.cross_entropy(outputs, labels, reduction="none") + noise


class Dropping(SoftmaxMethod):
    """A method of the user's own that is random in training alone."""

    def __init__(self, num_classes):
        super().__init__(num_classes)
        self.drop = torch.nn.Dropout(0.5)

    def sample_losses(self, outputs, labels):
        return torch.nn.functional.cross_entropy(self.drop(outputs), labels, reduction="none")


def test_only_a_fixed_loss_suits(grades):
    assert all(suits_full_batch(linear(name), grades) for name in ("clm", "ce", "smooth-slopes", "pn", "ce+hinge"))
    unsuited = ("wk", "smooth-wk", "elb", "smooth-elb", "mv+elb", "lagrangian")
    assert not any(suits_full_batch(linear(name), grades) for name in unsuited)
    before = torch.get_rng_state()
    assert not suits_full_batch(linear(Noisy(4)), grades)
    assert not suits_full_batch(linear(Dropping(4)).eval(), grades)
    assert torch.equal(torch.get_rng_state(), before)
