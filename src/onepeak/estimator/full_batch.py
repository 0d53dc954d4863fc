"""Linear models by L-BFGS on the whole table: the optimum itself, in a fraction of the time of stochastic steps."""

import math

import torch
from torch import Tensor

from onepeak.estimator.fitting import Curves, Table, shown, weighted_loss
from onepeak.networks.head import RowHead
from onepeak.networks.network import Network

ROWS_A_PART = 2**14
"""Most rows whose gradient is computed at once, so that memory is bounded."""

ROUNDS, STEPS_PER_ROUND = 50, 20
"""Most rounds, and the steps of each. Convergence is checked after every round."""

FLAT = 1e-5
"""Largest derivative of the mean loss, with respect to any weight, at the optimum."""

STALLED = 1e-6
"""A round that lowers the loss by a smaller share than this is the last: losses with kinks (`hinge`, `co2`) have
derivatives even at their optimum."""


def suits_full_batch(network: Network, train: Table) -> bool:
    """Returns whether the loss is one fixed function of the weights, which a line search requires.

    It is not if the loss of a sample depends on the rest of its batch, changes from epoch to epoch or draws random
    numbers. On mps, which has no float64, rounding would stop the search early.
    """
    if network.method.batchwise or network.method.scheduled or train.rows.device.type == "mps":
        return False
    few = torch.arange(min(len(train), 64), device=train.rows.device)
    with torch.no_grad():
        return torch.equal(weighted_loss(network, train, few), weighted_loss(network, train, few))


def fit_full_batch(network: Network, train: Table, *, weight_decay: float, verbose: bool = False) -> Curves:
    r"""Minimises the penalised loss of all samples, in float64.

    .. math:: \sum_i w_i \ell_i + \frac{\lambda}{2} \lVert W \rVert^2

    where W are the weights of the columns. Biases and the method's own parameters, such as thresholds, are not
    penalised.

    Args:
        network: A linear network, on the device of the samples.
        train: Training samples.
        weight_decay: The factor :math:`\lambda` of the penalty.
        verbose: Whether to show a progress bar.
    """
    assert isinstance(network.head, RowHead)
    columns = network.head.classifier.weight
    network.double().train()
    curves = Curves(converged=False)
    optimizer = torch.optim.LBFGS(
        network.parameters(),
        max_iter=STEPS_PER_ROUND,
        history_size=20,
        tolerance_grad=FLAT / 10,
        tolerance_change=0,
        line_search_fn="strong_wolfe",
    )

    def objective() -> float:
        optimizer.zero_grad()
        curves.train.append(_add_gradient(network, train))
        penalty = weight_decay / 2 * columns.square().sum() / train.weights.sum()
        penalty.backward()
        return curves.train[-1] + float(penalty.detach())

    before = math.inf
    for _ in shown(ROUNDS, verbose, of="rounds"):
        optimizer.step(objective)
        reached = objective()
        curves.converged = _largest_derivative(network) <= FLAT or before - reached <= STALLED * abs(reached)
        if curves.converged:
            break
        before = reached
    network.to(train.rows.dtype).eval()
    return curves


def _add_gradient(network: Network, train: Table) -> float:
    """Adds the gradient of the mean loss, part by part; returns the mean loss."""
    total = train.weights.double().sum()
    mean = 0.0
    for start in range(0, len(train), ROWS_A_PART):
        part = slice(start, start + ROWS_A_PART)
        few = Table(rows=train.rows[part].double(), labels=train.labels[part], weights=train.weights[part].double())
        loss = weighted_loss(network, few, slice(None)) / total
        loss.backward()
        mean += float(loss.detach())
    return mean


def _largest_derivative(network: Network) -> float:
    gradients: list[Tensor] = [each.grad for each in network.parameters() if each.grad is not None]
    return max(float(gradient.abs().max()) for gradient in gradients if gradient.numel())
