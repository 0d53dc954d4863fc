"""The optimum of linear models, against scipy's minimiser and probabilities written from the definition."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import expit

import onepeak
from onepeak.estimator import full_batch
from onepeak.estimator.fitting import Table, mean_loss
from onepeak.estimator.full_batch import fit_full_batch, suits_full_batch
from onepeak.methods.softmax import SoftmaxMethod
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.network import Network


def linear(method="clm", dtype=torch.float64):
    made = onepeak.method(method, num_classes=4) if isinstance(method, str) else method
    return build_network(made, NetworkSettings(backbone="mlp", num_features=3, hidden=()), seed=0).to(dtype)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    labels = np.digitize(rows @ [2.0, -1.0, 0.0] + rng.logistic(size=200), [-2, 0, 1])
    weights = rng.uniform(0.5, 3, size=200)
    return Table(rows=torch.tensor(rows), labels=torch.tensor(labels), weights=torch.tensor(weights))


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
def test_proportional_odds_have_the_weighted_penalised_maximum_likelihood(table, weight_decay):
    network = linear()
    curves = fit_full_batch(network, table, weight_decay=weight_decay)
    assert curves.converged
    assert not network.training
    np.testing.assert_allclose(posterior(network, table), by_scipy(table, weight_decay), atol=1e-4)


def test_validation_samples_choose_the_penalty(table):
    few = Table(rows=table.rows[:60], labels=3 - table.labels[:60], weights=table.weights[:60])  # the wrong way round
    chosen, alone = linear(), linear()
    curves = fit_full_batch(chosen, few, table, weight_decay=0.1)
    assert curves.weight_decay == 100.0
    assert len(curves.valid) == 2  # the next penalty was worse
    assert curves.valid[0] == pytest.approx(mean_loss(chosen, table))
    fit_full_batch(alone, few, weight_decay=100.0)
    np.testing.assert_allclose(posterior(chosen, table), posterior(alone, table), atol=1e-4)


def test_of_true_samples_they_choose_the_weakest_and_of_no_penalty_none(table):
    assert fit_full_batch(linear(), table, table, weight_decay=0.1).weight_decay == 0.1
    free = fit_full_batch(linear(), table, table, weight_decay=0.0)
    assert (free.weight_decay, len(free.valid)) == (0.0, 1)


def test_the_progress_bar_goes_on_round_by_round_and_penalty_by_penalty(table, monkeypatch):
    shown = []

    @contextmanager
    def progress(total, *, of, verbose):
        shown.append((total, of, verbose))
        yield shown.append

    monkeypatch.setattr(full_batch, "progress", progress)
    fit_full_batch(linear(), table, table, weight_decay=0.1, verbose=True)
    (first, *done), rounds = shown, full_batch.ROUNDS
    assert first == (4 * rounds, "rounds", True)
    assert done == sorted(done)
    assert done[0] == 1
    assert {rounds, 2 * rounds, 3 * rounds, 4 * rounds} < set(done)


def test_a_weight_is_a_number_of_copies(table):
    counts = torch.randint(1, 4, (200,), generator=torch.Generator().manual_seed(0))
    one, other = linear(), linear()
    weighted = Table(rows=table.rows, labels=table.labels, weights=counts.double())
    copies = torch.repeat_interleave(torch.arange(200), counts)
    repeated = Table(
        rows=table.rows[copies], labels=table.labels[copies], weights=torch.ones(len(copies), dtype=torch.float64)
    )
    fit_full_batch(one, weighted, weight_decay=5.0)
    fit_full_batch(other, repeated, weight_decay=5.0)
    np.testing.assert_allclose(posterior(one, table), posterior(other, table), atol=1e-5)


def test_weights_that_sum_to_one_do_not_flatten_the_model(table):
    ones, shares = linear(), linear()
    equal = torch.ones(200, dtype=torch.float64)
    fit_full_batch(ones, Table(rows=table.rows, labels=table.labels, weights=equal), weight_decay=5.0)
    fit_full_batch(shares, Table(rows=table.rows, labels=table.labels, weights=equal / 200), weight_decay=5.0)
    np.testing.assert_allclose(posterior(shares, table), posterior(ones, table), atol=1e-6)


def test_a_search_that_gets_stuck_on_columns_of_very_different_size_has_not_converged(table):
    sizes, shifts = torch.tensor([1.0, 1e5, 1.0]).double(), torch.tensor([0.0, 3e5, 0.0]).double()
    unscaled = Table(rows=table.rows * sizes + shifts, labels=table.labels, weights=table.weights)
    assert not fit_full_batch(linear("ce"), unscaled, weight_decay=0.1).converged
    assert fit_full_batch(linear("ce"), table, weight_decay=0.1).converged


def test_a_large_table_is_passed_in_parts(table, monkeypatch):
    whole, parts = linear(), linear()
    fit_full_batch(whole, table, weight_decay=0.1)
    monkeypatch.setattr(full_batch, "ROWS_A_PART", 64)
    most = []
    forward = Network.forward
    monkeypatch.setattr(Network, "forward", lambda self, rows: most.append(len(rows)) or forward(self, rows))
    fit_full_batch(parts, table, weight_decay=0.1)
    assert max(most) == 64
    np.testing.assert_allclose(posterior(parts, table), posterior(whole, table), atol=1e-6)


def test_float32_rows_are_fitted_in_float64(table):
    double, single = linear(), linear(dtype=torch.float32)
    fit_full_batch(double, table, weight_decay=0.1)
    fit_full_batch(
        single, Table(rows=table.rows.float(), labels=table.labels, weights=table.weights.float()), weight_decay=0.1
    )
    assert {each.dtype for each in single.parameters()} == {torch.float32}
    np.testing.assert_allclose(posterior(single, table), posterior(double, table), atol=1e-5)


def test_too_few_steps_do_not_converge(table, monkeypatch):
    monkeypatch.setattr(full_batch, "ROUNDS", 1)
    monkeypatch.setattr(full_batch, "STEPS_PER_ROUND", 2)
    assert fit_full_batch(linear(), table, weight_decay=0.1).converged is False


def test_a_loss_with_kinks_converges_too(table):
    curves = fit_full_batch(linear("hinge"), table, weight_decay=0.1)
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


def test_only_a_fixed_loss_suits(table):
    assert all(suits_full_batch(linear(name), table) for name in ("clm", "ce", "smooth-slopes", "pn", "ce+hinge"))
    unsuited = ("wk", "smooth-wk", "elb", "smooth-elb", "mv+elb", "lagrangian")
    assert not any(suits_full_batch(linear(name), table) for name in unsuited)
    before = torch.get_rng_state()
    assert not suits_full_batch(linear(Noisy(4)), table)
    assert not suits_full_batch(linear(Dropping(4)).eval(), table)
    assert torch.equal(torch.get_rng_state(), before)
