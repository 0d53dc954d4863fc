"""Linear models by L-BFGS on the whole table: the optimum itself, in a fraction of the time of stochastic steps."""

import copy
import math
from collections.abc import Callable

import torch
from torch import Tensor

from onepeak.estimator.fitting import Curves, Table, mean_loss, random_numbers, weighted_loss
from onepeak.estimator.progress import progress
from onepeak.networks.head import RowHead
from onepeak.networks.network import Network

ROWS_A_PART = 2**14
"""Most rows whose gradient is computed at once, so that memory is bounded."""

ROUNDS, STEPS_PER_ROUND = 50, 20
"""Most rounds, and the steps of each. Convergence is checked after every round."""

FLAT = 1e-5
"""Largest derivative of the mean loss, with respect to any weight, at the optimum."""

PENALTIES = (1000, 100, 10, 1)
"""Factors of `weight_decay` among which validation samples choose."""

STALLED = 1e-6
"""A round that lowers the loss by a smaller share than this is the last: losses with kinks (`hinge`, `co2`) have
derivatives even at their optimum."""


def suits_full_batch(network: Network, train: Table) -> bool:
    """Returns whether the loss is one fixed function of the weights, which a line search requires.

    It is not if the loss of a sample depends on the rest of its batch, changes from epoch to epoch or draws random
    numbers. On mps, which has no float64, rounding would stop the search early.
    """
    # A barrier that tightens could be fitted at its last t, where the loss is convex and fixed. But it rewards ever
    # larger gaps, which stochastic steps end by stopping early; at the optimum only the penalty would.
    if network.method.batchwise or network.method.scheduled or train.rows.device.type == "mps":
        return False
    few = torch.arange(min(len(train), 64), device=train.rows.device)
    network.train()  # as it is fitted: dropout draws random numbers only then
    with torch.no_grad(), random_numbers(0, train.rows.device):  # leaves those outside alone
        return torch.equal(weighted_loss(network, train, few), weighted_loss(network, train, few))


def fit_full_batch(
    network: Network, train: Table, valid: Table | None = None, *, weight_decay: float, verbose: bool = False
) -> Curves:
    r"""Minimises the penalised loss of all samples, in float64.

    .. math:: \sum_i w_i \ell_i + \frac{\lambda}{2} \lVert W \rVert^2

    where W are the weights of the columns. Biases and the method's own parameters, such as thresholds, are not
    penalised.

    The penalty is relative to the total weight. Weights that are below 1 on average, such as those that sum to 1, count
    as 1 on average there, so that they do not flatten the model.

    Validation samples choose the penalty, by their loss: starting with the strongest, it becomes weaker as long as that
    helps. They take the place of early stopping, without which a table of many columns and few rows is overfitted.

    Args:
        network: A linear network, on the device of the samples.
        train: Training samples.
        valid: Samples that choose the penalty, from `weight_decay` times `PENALTIES`; None for `weight_decay` itself.
        weight_decay: The factor :math:`\lambda` of the penalty, or the smallest to choose.
        verbose: Whether to show a progress bar.
    """
    precision = train.rows.dtype
    network.double()
    curves = Curves()
    best = None
    factors = PENALTIES if valid is not None and weight_decay else (1,)
    with progress(len(factors) * ROUNDS, of="rounds", verbose=verbose) as done:
        for place, factor in enumerate(factors):
            converged = _minimise(network, train, factor * weight_decay, curves, done, place * ROUNDS)
            done((place + 1) * ROUNDS)  # it seldom needs them all
            if valid is not None:
                curves.valid.append(mean_loss(network, _double(valid)))
                if curves.valid[-1] > min(curves.valid):
                    break
            best, curves.converged = copy.deepcopy(network.state_dict()), converged
            curves.weight_decay = factor * weight_decay
    assert best is not None
    network.load_state_dict(best)
    network.to(precision).eval()
    return curves


def _minimise(
    network: Network,
    train: Table,
    weight_decay: float,
    curves: Curves,
    done: Callable[[int], object],
    rounds_before: int,
) -> bool:
    """Goes on from the weights there are, adds the loss of every pass, and returns whether the optimum was reached."""
    assert isinstance(network.head, RowHead)
    columns = network.head.classifier.weight
    size = max(float(train.weights.sum()), int((train.weights > 0).sum()))
    can_stall = _is_well_scaled(train.rows)
    network.train()
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
        penalty = weight_decay / 2 * columns.square().sum() / size
        penalty.backward()
        return curves.train[-1] + float(penalty.detach())

    before = math.inf
    for number in range(ROUNDS):
        optimizer.step(objective)
        done(rounds_before + number + 1)
        reached = objective()
        if _largest_derivative(network) <= FLAT:
            return True
        if before - reached <= STALLED * abs(reached):
            return can_stall  # at a kink; on columns of very different size the search itself gets stuck
        before = reached
    return False


def _add_gradient(network: Network, train: Table) -> float:
    """Adds the gradient of the mean loss, part by part; returns the mean loss."""
    total = train.weights.double().sum()
    mean = 0.0
    for start in range(0, len(train), ROWS_A_PART):
        part = slice(start, start + ROWS_A_PART)
        few = _double(Table(rows=train.rows[part], labels=train.labels[part], weights=train.weights[part]))
        loss = weighted_loss(network, few, slice(None)) / total
        loss.backward()
        mean += float(loss.detach())
    return mean


def _double(table: Table) -> Table:
    return Table(rows=table.rows.double(), labels=table.labels, weights=table.weights.double())


def _is_well_scaled(rows: Tensor) -> bool:
    """Whether no column is far larger or smaller than a standardised one; constant zeros do no harm."""
    sizes = rows.double().square().mean(dim=0).sqrt()
    return bool(((sizes == 0) | ((sizes > 1e-2) & (sizes < 1e2))).all())


def _largest_derivative(network: Network) -> float:
    gradients: list[Tensor] = [each.grad for each in network.parameters() if each.grad is not None]
    return max(float(gradient.abs().max()) for gradient in gradients if gradient.numel())
