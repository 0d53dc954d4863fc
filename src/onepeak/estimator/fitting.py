"""Training on a table that fits into memory: small steps, no metric except the loss, same bits for the same seed."""

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor

from onepeak.errors import NotFiniteError
from onepeak.estimator.progress import progress
from onepeak.networks.network import Network
from onepeak.networks.seeds import own_random_numbers
from onepeak.training.diverged import DivergedError
from onepeak.training.optimizer import make_optimizer, set_learning_rate
from onepeak.training.patience import has_stalled
from onepeak.training.recipe import Recipe
from onepeak.training.schedule import learning_rate

ROWS_A_BATCH = 2**16
"""Most rows whose loss is computed at once outside of training."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Rows ready for a network, on its device."""

    rows: Tensor
    labels: Tensor
    weights: Tensor

    def __len__(self) -> int:
        return len(self.rows)


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
    network: Network, train: Table, valid: Table | None, recipe: Recipe, *, seed: int, verbose: bool = False
) -> Curves:
    """Trains a network; with validation samples it stops early and keeps the weights of the best epoch.

    Args:
        network: The network, on the device of the samples.
        train: Training samples.
        valid: Samples that choose the epoch, by their loss; None to run all epochs and keep the last.
        recipe: Optimiser, schedule, epochs, batch size and patience.
        seed: Seed of the order of samples and of dropout.
        verbose: Whether to show a progress bar.
    """
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

    Args:
        steps: Steps of the whole training; infinite if its end is not known.

    Example:
        >>> rate_of_linear(100), rate_of_linear(400), rate_of_linear(10000)
        (0.1, 0.05, 0.02)
    """
    return min(0.1, max(0.02, 20 / steps))


def train_epoch(
    network: Network, train: Table, optimizer: torch.optim.Optimizer, *, batch_size: int, order: torch.Generator
) -> float:
    """Trains on every sample once, in an order drawn from `order`; returns the mean loss during the epoch."""
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
def mean_loss(network: Network, samples: Table) -> float:
    """Returns the mean loss of samples under the current weights."""
    network.eval()
    batches = torch.arange(len(samples), device=samples.rows.device).split(ROWS_A_BATCH)
    return float(sum(weighted_loss(network, samples, batch) for batch in batches) / samples.weights.sum())


@contextmanager
def random_numbers(seed: int, device: torch.device) -> Iterator[torch.Generator]:
    """Seeds dropout inside and yields a generator derived from the seed; restores the global random state on exit."""
    with own_random_numbers(device):
        torch.manual_seed(seed)
        yield torch.Generator().manual_seed(int(torch.randint(2**62, ())))


def weighted_loss(network: Network, samples: Table, batch: Tensor | slice) -> Tensor:
    """Returns the sum of the weighted losses of a batch."""
    outputs = network(samples.rows[batch])
    try:
        return network.method.loss(
            outputs, samples.labels[batch], sample_weight=samples.weights[batch], reduction="sum"
        )
    except NotFiniteError:
        raise _diverged() from None


def _diverged() -> DivergedError:
    return DivergedError("The loss is no longer a number. Probably `lr` is too high, or `standardize` is needed.")
