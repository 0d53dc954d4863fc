"""Training on a table that fits into memory, by small steps or by the whole table: no metric except the loss.

The recipe, optimiser, schedule and patience are those of `onepeak train`, but not its loop: that measures metrics after
every epoch, which takes longer than training on a small table, and knows no weights of samples.
"""

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor

from onepeak._core.imports import require
from onepeak.errors import InputError, NotFiniteError
from onepeak.networks.head import RowHead
from onepeak.networks.network import Network
from onepeak.networks.weights import own_random_numbers
from onepeak.training.convergence import has_stalled
from onepeak.training.loop import DivergedError
from onepeak.training.optimizer import learning_rate, make_optimizer, set_learning_rate
from onepeak.training.recipe import Recipe

ROWS_A_BATCH = 2**16
"""Most rows whose loss is computed at once outside of training."""

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


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceRows:
    """Rows ready for a network, on its device."""

    rows: Tensor
    labels: Tensor
    weights: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, rows: slice) -> "DeviceRows":
        """Returns some of the samples in float64."""
        return DeviceRows(rows=self.rows[rows].double(), labels=self.labels[rows], weights=self.weights[rows].double())


@dataclass(kw_only=True)
class Curves:
    """The losses of every epoch."""

    train: list[float] = field(default_factory=list)
    valid: list[float] = field(default_factory=list)
    """Losses of the held-out samples; empty without early stopping."""
    before: float = math.nan
    """The loss before the first step, of the held-out samples if there are any, otherwise of the training samples."""
    best_epoch: int = 0
    """The epoch whose weights were kept, from 0; the last one without early stopping."""
    converged: bool | None = None
    """Whether the optimum was reached, for a linear model that was fitted to it; None after stochastic steps."""
    weight_decay: float | None = None
    """The penalty of such a model, chosen or given; None after stochastic steps."""


def fit_network(
    network: Network, train: DeviceRows, valid: DeviceRows | None, recipe: Recipe, *, seed: int, verbose: bool = False
) -> Curves:
    """Trains a network by steps; validation samples choose the epoch by their loss, otherwise the last is kept."""
    optimizer = make_optimizer(network, recipe)
    curves = Curves(before=mean_loss(network, train if valid is None else valid))
    best = None
    bar = progress(recipe.epochs, of="epochs", verbose=verbose)
    with bar as done, random_numbers(seed, train.rows.device) as order:
        for epoch in range(recipe.epochs):
            set_learning_rate(optimizer, learning_rate(recipe, epoch))
            curves.train.append(train_epoch(network, train, optimizer, batch_size=recipe.batch_size, order=order))
            if valid is None:
                curves.best_epoch = epoch
            else:
                curves.valid.append(mean_loss(network, valid))
                if not curves.valid[-1] >= min(curves.valid[:-1], default=math.inf):
                    best, curves.best_epoch = copy.deepcopy(network.state_dict()), epoch
                if has_stalled(epoch, best_epoch=curves.best_epoch, patience=recipe.patience):
                    break
            network.method.tighten()
            done(epoch + 1)
    if best is not None:
        network.load_state_dict(best)
    network.eval()
    return curves


def rate_of_linear(steps: float) -> float:
    """Returns the highest learning rate for a linear model on standardised columns.

    A step of AdamW moves a weight by about the learning rate, whatever the gradient, so few steps reach the best
    weights only at a large rate. On a large table a large rate is noise: early stopping evaluates weights that still
    move by it. The values were chosen on proportional-odds data of 100 to 3000 rows with weak and strong noise, for six
    methods.
    """
    return min(0.1, max(0.02, 20 / steps))


def train_epoch(
    network: Network, train: DeviceRows, optimizer: torch.optim.Optimizer, *, batch_size: int, order: torch.Generator
) -> float:
    """Trains on every sample once, in random order; returns the mean loss during the epoch."""
    network.train()
    batches = torch.randperm(len(train), generator=order).to(train.rows.device).split(batch_size)
    # Every step divides by the weight of an average batch, not by its own, so that a sample's weight means the same in
    # every batch.
    batch_weight = train.weights.sum() / len(batches)
    total = torch.zeros((), dtype=train.weights.dtype, device=train.rows.device)
    for batch in batches:
        loss = weighted_loss(network, train, batch) / batch_weight
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    mean = float(total) / len(batches)
    if not math.isfinite(mean):
        raise _diverged()
    return mean


@torch.no_grad()
def mean_loss(network: Network, samples: DeviceRows) -> float:
    """Returns the mean loss of samples."""
    network.eval()
    batches = torch.arange(len(samples), device=samples.rows.device).split(ROWS_A_BATCH)
    return float(sum(weighted_loss(network, samples, batch) for batch in batches) / samples.weights.sum())


@contextmanager
def random_numbers(seed: int, device: torch.device) -> Iterator[torch.Generator]:
    """Seeds dropout inside and yields a generator derived from the seed; restores the global random state on exit."""
    with own_random_numbers(device):
        torch.manual_seed(seed)
        yield torch.Generator().manual_seed(int(torch.randint(2**62, ())))


def weighted_loss(network: Network, samples: DeviceRows, batch: Tensor | slice) -> Tensor:
    """Returns the sum of the weighted losses of a batch."""
    if network.method.asks_features:
        raise InputError(
            "`method` must have no term on features, such as +rnc, in an estimator: `onepeak train` and `compare` take "
            "it, for tables too."
        )
    outputs = network(samples.rows[batch])
    try:
        return network.method.loss(
            outputs, samples.labels[batch], sample_weight=samples.weights[batch], reduction="sum"
        )
    except NotFiniteError:
        raise _diverged() from None


def _diverged() -> DivergedError:
    return DivergedError("The loss is no longer a number. Probably `lr` is too high, or `standardize` is needed.")


@contextmanager
def progress(total: int, *, of: str, verbose: bool) -> Iterator[Callable[[int], object]]:
    """Yields a function that sets how much is done, shown by a bar on stderr that is full at the end of the fit."""
    if not verbose:
        yield lambda _: None
        return
    console = require("rich.console", extra="cli", purpose="The progress bar").Console(stderr=True)
    with require("rich.progress", extra="cli", purpose="The progress bar").Progress(console=console) as bar:
        task = bar.add_task(of, total=total)
        yield lambda count: bar.update(task, completed=count)
        bar.update(task, completed=total)


def suits_full_batch(network: Network, train: DeviceRows) -> bool:
    """Returns whether the loss is one fixed function of the weights, and the device has float64: a line search's needs.

    It is not if the loss of a sample depends on the rest of its batch, changes from epoch to epoch or is random.
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
    network: Network, train: DeviceRows, valid: DeviceRows | None = None, *, weight_decay: float, verbose: bool = False
) -> Curves:
    r"""Minimises the penalised loss of all samples, in float64.

    .. math:: \sum_i w_i \ell_i + \frac{\lambda}{2} \lVert W \rVert^2

    where W are the weights of the columns. Biases and the method's own parameters, such as thresholds, are not
    penalised.

    Weights below 1 on average, such as those that sum to 1, count as 1 on average in the penalty, so that they do not
    flatten the model. Validation samples choose :math:`\lambda`, from `weight_decay` times `PENALTIES`, by their loss:
    it becomes weaker as long as that helps. They take the place of early stopping, without which a table of many
    columns and few rows is overfitted.
    """
    precision = train.rows.dtype
    network.double()
    curves = Curves()
    best = None
    factors = PENALTIES if valid is not None and weight_decay else (1,)
    with progress(len(factors) * ROUNDS, of="rounds", verbose=verbose) as done:
        for tried, factor in enumerate(factors):
            converged = _minimise(network, train, factor * weight_decay, curves, done, tried * ROUNDS)
            done((tried + 1) * ROUNDS)  # it seldom needs them all
            if valid is not None:
                curves.valid.append(mean_loss(network, valid.part(slice(None))))
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
    train: DeviceRows,
    weight_decay: float,
    curves: Curves,
    done: Callable[[int], object],
    rounds_before: int,
) -> bool:
    """Continues from the current weights, adds the loss of every pass, and returns whether it reached the optimum."""
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


def _add_gradient(network: Network, train: DeviceRows) -> float:
    """Adds the gradient of the mean loss, part by part; returns the mean loss."""
    total = train.weights.double().sum()
    mean = 0.0
    for start in range(0, len(train), ROWS_A_PART):
        loss = weighted_loss(network, train.part(slice(start, start + ROWS_A_PART)), slice(None)) / total
        loss.backward()
        mean += float(loss.detach())
    return mean


def _is_well_scaled(rows: Tensor) -> bool:
    """Whether no column is far larger or smaller than a standardised one; constant zeros do no harm."""
    sizes = rows.double().square().mean(dim=0).sqrt()
    return bool(((sizes == 0) | ((sizes > 1e-2) & (sizes < 1e2))).all())


def _largest_derivative(network: Network) -> float:
    gradients: list[Tensor] = [each.grad for each in network.parameters() if each.grad is not None]
    return max(float(gradient.abs().max()) for gradient in gradients if gradient.numel())
