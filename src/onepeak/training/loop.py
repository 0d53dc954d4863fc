"""The training loop, in small named steps. A killed run resumes from its checkpoint and gives the same result."""

import contextlib
import copy
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from onepeak._core.compat import loss_scaler_of, precision_of
from onepeak._core.imports import require
from onepeak._core.reduce import weights_of_samples
from onepeak.data.splits import Split
from onepeak.errors import InputError, OnepeakError
from onepeak.metrics.catalog import collection
from onepeak.networks.network import Network
from onepeak.networks.weights import own_random_numbers
from onepeak.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from onepeak.training.convergence import has_stalled, to_lower
from onepeak.training.evaluate import Answers, answers, loss_or_nan, measured_names, medians, validate
from onepeak.training.feed import Feed, Indices, batch_slices, epoch_order, on_device
from onepeak.training.graphs import RecordedAnswers, RecordedSteps, can_be_recorded
from onepeak.training.imbalance import logit_shift
from onepeak.training.optimizer import learning_rate, make_optimizer, set_learning_rate
from onepeak.training.out_folder import write_history
from onepeak.training.pack import backward
from onepeak.training.progress import Row, Watch
from onepeak.training.recipe import Recipe

if TYPE_CHECKING:
    from lightning.fabric import Fabric


@final
class RunningAverage:
    r"""An exponential moving average of a network, from its initial weights on: :math:`a \leftarrow d a + (1 - d) w`.

    Args:
        network: The network to follow, already on its final device.
        decay: d, for weights and batch-norm statistics; tensors that are not floating-point are copied.
    """

    def __init__(self, network: Network, decay: float) -> None:
        self.network = copy.deepcopy(network).requires_grad_(requires_grad=False)
        self.decay = decay
        states = (each.state_dict(keep_vars=True).values() for each in (network, self.network))
        pairs = [
            (averaged, own) for own, averaged in dict(zip(*states, strict=True)).items()
        ]  # tied weights appear once
        self._real = [pair for pair in pairs if pair[0].is_floating_point()]
        self._counts = [pair for pair in pairs if not pair[0].is_floating_point()]

    @torch.no_grad()
    def follow(self) -> None:
        """Updates the average after a step of the network."""
        averaged, own = _lists(self._real)
        torch._foreach_lerp_(averaged, own, 1 - self.decay)
        if self._counts:
            torch._foreach_copy_(*_lists(self._counts))


def _lists(pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    return [averaged for averaged, _ in pairs], [own for _, own in pairs]


@final
class Objective(nn.Module):
    """Network and loss in one module, so that DistributedDataParallel sees every parameter, including the method's.

    Args:
        network: The network with its method.
        shift: Added to the outputs in training, see `onepeak.training.imbalance.logit_shift`; None for nothing.
    """

    shift: Tensor | None

    def __init__(self, network: Network, *, shift: Tensor | None = None) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("shift", shift, persistent=False)

    def forward(self, inputs: Tensor, labels: Tensor, total_weight: float | None) -> Tensor:
        """Returns the mean loss of a batch; with a total weight, the sum divided by it."""
        method = self.network.method
        if method.asks_features:  # never with several processes, each of which would see its share of the batch only
            outputs, features = self.network.with_features(inputs)
            loss = loss_or_nan(method, self.shifted(outputs), labels, reduction="mean")
            return loss + method.feature_loss(features, medians(labels))
        outputs = self.shifted(self.network(inputs))
        if total_weight is None:
            return loss_or_nan(method, outputs, labels, reduction="mean")
        return loss_or_nan(method, outputs, labels, reduction="sum") / total_weight

    def shifted(self, outputs: Tensor) -> Tensor:
        """Returns the outputs that the loss sees in training."""
        return outputs if self.shift is None else outputs + self.shift


class DivergedError(OnepeakError):
    """The loss is no longer a number."""


def diverged(what: str, *, epoch: int, step: int, learning_rate: float, precision: str) -> DivergedError:
    """Makes the error, with the likely cause."""
    likely = f"the learning rate of {learning_rate:g} is too high"
    if "16" in precision:
        likely += ", or half precision overflowed (try --precision fp32)"
    return DivergedError(
        f"The {what} at epoch {epoch}, step {step}. Probably {likely}. The checkpoint of an earlier epoch, if there is "
        "one, is kept."
    )


_PAUSE = 20.0
"""Shortest time between two checkpoints, as a multiple of that of writing one."""


class Loop:
    """Trains one network.

    Seed and epoch determine the order of samples, their augmentation, and dropout. `select` is the validation metric
    whose best epoch is kept, or "last". With `label_probs`, samples x classes, the loss is the expected one.
    `alone` says that no other training in this process uses its random state, see
    `onepeak.training.pack`.
    """

    def __init__(
        self,
        network: Network,
        feed: Feed,
        labels: npt.NDArray[np.int64],
        split: Split,
        recipe: Recipe,
        *,
        fabric: "Fabric",
        seed: int,
        select: str,
        watches: tuple[Watch, ...] = (),
        alone: bool = True,
        label_probs: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.network, self.feed, self.split, self.recipe = network, feed, split, recipe
        self.fabric, self.seed, self.select, self.watches = fabric, seed, select, watches
        self.alone, self.labels = alone, labels
        self.device_labels = torch.from_numpy(labels).to(fabric.device)
        probs = None if label_probs is None else torch.tensor(label_probs, dtype=torch.float32)
        self.targets = torch.from_numpy(labels) if probs is None else probs
        self.device_targets = self.targets.to(fabric.device)
        self.metrics = collection(network.method.num_classes, names=measured_names(select)).to(fabric.device)
        if fabric.device.type == "cuda":
            network.to(memory_format=torch.channels_last)  # like the images; otherwise every step converts the weights
        check_share(recipe, fabric.world_size)
        check_feature_terms(network, fabric.world_size)
        if recipe.sync_batch_norm:
            synchronise_batch_norm(network, fabric)
        strength = recipe.logit_adjustment
        shift = None if strength is None else logit_shift(network.method, labels[split.train], strength)
        objective = Objective(network, shift=shift).to(fabric.device)
        self.loss, self.optimizer = fabric.setup(objective, make_optimizer(network, recipe))
        self.average = None if recipe.ema is None else RunningAverage(network, recipe.ema)
        self.scaler = loss_scaler_of(fabric)
        self.records = can_be_recorded(network.method, recipe, fabric=fabric)
        self.is_warm = False  # until this process has run an epoch, and all that is made on first use exists
        self.recorded_steps = RecordedSteps(feed, self.device_targets)
        self.recorded_answers: RecordedAnswers | None = None
        self.epoch = 0
        self.history: list[Row] = []
        self.best: dict[str, Tensor] = {}
        self.best_epoch, self.best_value = -1, math.nan

    def run(
        self,
        *,
        checkpoint: Path | None = None,
        fingerprint: dict[str, str] | None = None,
    ) -> "Loop":
        """Trains to the end, resuming from a checkpoint if there is one; leaves the best weights in the network.

        The history stands beside the checkpoint, which is rejected if it belongs to a run with another fingerprint. A
        checkpoint follows every epoch, unless that would take more than a twentieth of the time, and always the last.
        """
        if checkpoint is not None:
            self.restore(load_checkpoint(checkpoint, fingerprint=fingerprint or {}))
        written, cost = time.monotonic(), 0.0
        with own_random_numbers(self.fabric.device) if self.alone else contextlib.nullcontext():
            while self.epoch < self.recipe.epochs and not self.has_stalled():
                self.run_epoch()
                last = self.epoch == self.recipe.epochs or self.has_stalled()
                start = time.monotonic()
                if checkpoint is not None and (last or start - written >= _PAUSE * cost):
                    if self.fabric.is_global_zero:
                        save_checkpoint(self.state(fingerprint or {}), checkpoint)
                        write_history(self.history, checkpoint.parent)
                    written = time.monotonic()
                    cost = written - start
        self.network.load_state_dict(self.best)
        return self

    @property
    def seconds(self) -> float:
        """Time of training and validation, including the time before a resume."""
        return sum(row["seconds"] for row in self.history)

    def run_epoch(self) -> None:
        """Runs one epoch: train, validate, keep the best weights, tighten the constraint."""
        start = time.perf_counter()
        if self.alone:
            torch.manual_seed((self.seed * 1_000_003 + self.epoch) * 4096 % 2**62 + self.fabric.global_rank)
        rate = learning_rate(self.recipe, self.epoch)
        set_learning_rate(self.optimizer, rate)
        train_loss = self.train_epoch()
        self.agree_on_buffers()
        values = {"loss": train_loss}
        if len(self.split.valid):  # a model of all samples is not validated
            values = validate(self.evaluated().method, self.validation_answers(), self.metrics, fabric=self.fabric)
        if not math.isfinite(values["loss"]):
            raise self.diverged("validation loss is not a number", step=len(list(self.batches())) - 1)
        row = {"epoch": self.epoch, "lr": rate, "train_loss": train_loss, "seconds": time.perf_counter() - start}
        row |= {f"valid_{name}": value for name, value in values.items()}
        self.history.append(row)
        if self.select == "last":
            if self.epoch == self.recipe.epochs - 1:
                self.keep(math.nan)
        else:
            self.keep_if_best(values[self.select])
        self.network.method.tighten()
        self.epoch += 1
        self.is_warm = True
        for watch in self.watches:
            watch.epoch(row)

    def train_epoch(self) -> float:
        """Trains on every sample once, or on as many balanced draws, and returns the mean loss over the steps.

        A last batch of a single sample is left out.
        """
        self.loss.train()
        batches = list(self.batches())
        losses = torch.zeros(len(batches), device=self.fabric.device)
        plan = None
        if self.records and self.is_warm:
            plan = self.recorded_steps.plan(batches, self.descend, seed=self.seed, epoch=self.epoch)
        for step, batch in enumerate(batches):
            if plan is None or not self.recorded_steps.fits(batch):
                losses[step] = self.train_step(batch)
            else:
                losses[step] = self.recorded_steps.step(plan[:, step * len(batch) : (step + 1) * len(batch)])
            for watch in self.watches:
                watch.step(self.epoch, step + 1, len(batches))
        # Every process knows only its share of a batch, and all must learn of a loss that is not a number.
        losses = torch.as_tensor(self.fabric.all_reduce(losses, reduce_op="mean"))
        if not losses.isfinite().all():  # the only sync, so that no step waits for the device
            raise self.diverged("loss is not a number", step=int((~losses.isfinite()).nonzero()[0]))
        return float(losses.mean())

    def agree_on_buffers(self) -> None:
        """Gives the evaluated network the current t of the barrier, not its average, and rank 0's buffers."""
        evaluated = self.evaluated()
        if self.average is not None:
            for own, averaged in zip(self.network.method.buffers(), evaluated.method.buffers(), strict=True):
                averaged.copy_(own)
        if self.fabric.world_size > 1:
            for buffer in evaluated.buffers():
                buffer.copy_(torch.as_tensor(self.fabric.broadcast(buffer)))

    def train_step(self, batch: Indices) -> Tensor:
        """Takes one optimiser step; the loss stays on the device."""
        world = self.fabric.world_size
        mine = batch[self.fabric.global_rank :: world]
        inputs = self.feed.train_inputs(mine, seed=self.seed, epoch=self.epoch)
        labels = self.device_targets[on_device(mine, self.fabric.device)]
        # Gradients are averaged over processes, so each divides its sum by 1 / world of the whole batch's weight.
        return self.descend(inputs, labels, None if world == 1 else self.weight_of(batch) / world)

    def descend(self, inputs: Tensor, labels: Tensor, total_weight: float | None = None) -> Tensor:
        """Computes loss and gradient, takes the optimiser step, and updates the running average."""
        loss: Tensor = self.loss(inputs, labels, total_weight)
        backward(loss, fabric=self.fabric)
        if self.recipe.clip_norm is not None:
            self.fabric.clip_gradients(self.loss, self.optimizer, max_norm=self.recipe.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.average is not None:
            self.average.follow()
        return loss.detach()

    def validation_answers(self) -> Answers:
        """Returns the network's outputs for the validation part, from a recording if there is one."""
        asked = (self.evaluated(), self.feed, self.split.valid, self.device_targets)
        size = self.recipe.evaluation_batch_size
        if self.records and self.is_warm:
            if self.recorded_answers is None:
                self.recorded_answers = RecordedAnswers(*asked, fabric=self.fabric, batch_size=size)
            if self.recorded_answers.fits:
                return self.recorded_answers()
        return answers(*asked, fabric=self.fabric, batch_size=size)

    def batches(self) -> Iterator[Indices]:
        """Yields the samples of each step of this epoch, over all processes."""
        train = self.split.train
        order = epoch_order(train, self.labels, seed=self.seed, epoch=self.epoch, balanced=self.recipe.balanced)
        order = self.feed.in_batches(order, self.recipe.batch_size, seed=self.seed, epoch=self.epoch)
        for part in batch_slices(len(order), self.recipe.batch_size, num_processes=self.fabric.world_size):
            yield order[part]

    def weight_of(self, batch: Indices) -> float:
        """Returns the total weight of a batch."""
        weights = self.network.method.class_weight
        of_samples = weights_of_samples(
            self.targets[batch], None if weights is None else weights.cpu(), None, torch.float32
        )
        return float(len(batch)) if of_samples is None else float(of_samples.sum())

    def evaluated(self) -> Network:
        """Returns the network to evaluate and keep: the running average, if there is one."""
        return self.network if self.average is None else self.average.network

    def keep_if_best(self, value: float) -> None:
        """Keeps the weights if this epoch is better than all before.

        Of equal epochs the first is kept; with the recipe's "as_published" the last, as the paper's code does.
        """
        better = to_lower(value, self.select) < to_lower(self.best_value, self.select)
        better |= self.recipe.select == "as_published" and value == self.best_value
        if better or not self.best:
            self.keep(value)

    def keep(self, value: float) -> None:
        """Keeps the weights of this epoch."""
        weights = self.evaluated().state_dict()
        self.best = {name: tensor.detach().to("cpu", copy=True) for name, tensor in weights.items()}
        self.best_epoch, self.best_value = self.epoch, value

    def has_stalled(self) -> bool:
        """Returns whether validation has not improved for as long as the recipe's patience."""
        return has_stalled(self.epoch - 1, best_epoch=self.best_epoch, patience=self.recipe.patience)

    def state(self, fingerprint: dict[str, str]) -> Checkpoint:
        """Returns everything that a resumed run needs."""
        return Checkpoint(
            epoch=self.epoch,
            network=self.network.state_dict(),
            optimizer=self.optimizer.state_dict(),
            scaler=None if self.scaler is None else self.scaler.state_dict(),
            average=None if self.average is None else self.average.network.state_dict(),
            best=self.best,
            best_epoch=self.best_epoch,
            best_value=self.best_value,
            history=self.history,
            fingerprint=fingerprint,
        )

    def restore(self, state: Checkpoint | None) -> None:
        """Restores the state of a checkpoint, if there is one."""
        if state is None:
            return
        self.network.load_state_dict(state.network)
        self.optimizer.load_state_dict(state.optimizer)
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"] = group["lr"].to(self.fabric.device)
        if self.scaler is not None and state.scaler is not None:
            self.scaler.load_state_dict(state.scaler)
        if self.average is not None and state.average is not None:
            self.average.network.load_state_dict(state.average)
        self.epoch, self.history = state.epoch, state.history
        self.best, self.best_epoch, self.best_value = state.best, state.best_epoch, state.best_value

    def diverged(self, what: str, *, step: int) -> DivergedError:
        """Makes the error for training that has diverged."""
        rate, precision = learning_rate(self.recipe, self.epoch), precision_of(self.fabric)
        return diverged(what, epoch=self.epoch, step=step, learning_rate=rate, precision=precision)


def check_share(recipe: Recipe, world_size: int) -> None:
    """Checks that every process gets a sample of every batch."""
    if recipe.batch_size < world_size:
        raise InputError(
            f"`batch_size` must be at least the number of processes, {world_size}, got {recipe.batch_size}."
        )


def check_feature_terms(network: Network, world_size: int) -> None:
    """Checks that a term on features sees whole batches."""
    if network.method.asks_features and world_size > 1:
        raise InputError(
            "A term on features, such as +rnc, compares all samples of a batch, of which each process sees only its "
            f"share: train with one process, got {world_size}."
        )


def synchronise_batch_norm(network: Network, fabric: "Fabric") -> None:
    """Makes batch norm compute its statistics over all processes, in place.

    It uses timm's conversion, which keeps the activation inside timm's batch norms; PyTorch's conversion would drop it.
    """
    if fabric.device.type != "cuda":
        raise InputError(f"`sync_batch_norm` must be off on {fabric.device.type}: PyTorch supports it on CUDA only.")
    layers = require("timm.layers", extra="train", purpose="Synchronised batch norm")
    if fabric.world_size > 1:
        network.backbone = layers.convert_sync_batchnorm(network.backbone)
        network.head = layers.convert_sync_batchnorm(network.head)
