"""The scaler and the network of a fitted estimator: how they are trained and pickled."""

import copy
from typing import Any, final

import numpy as np
import numpy.typing as npt
import torch
from sklearn.preprocessing import StandardScaler

from onepeak._shapes import Labels, LogProbs
from onepeak.estimator.fitting import Curves, Table, fit_network, random_numbers, train_epoch
from onepeak.estimator.full_batch import fit_full_batch, suits_full_batch
from onepeak.estimator.plan import NetworkPlan
from onepeak.estimator.samples import Samples
from onepeak.estimator.unchanged import unchanged_by_failure
from onepeak.estimator.weight_bytes import from_bytes, to_bytes
from onepeak.training.optimizer import make_optimizer, set_learning_rate
from onepeak.training.recipe import Recipe
from onepeak.training.same_bits import same_bits

Rows = npt.NDArray[np.floating]

ROWS_A_BATCH = 4096
"""Most rows that are predicted at once."""


@final
class RowModel:
    """From rows of numbers to a method's predictions.

    A pickle holds the weights as safetensors bytes and the rest as plain values; after unpickling, the network is on
    the CPU.

    Args:
        plan: What the network is made of.
        recipe: How it is trained.
        standardize: Whether to scale columns to mean 0 and standard deviation 1.
        dtype: Precision of the computation.
        device: Device of the computation.
        seed: Seed of everything random.
    """

    def __init__(
        self,
        plan: NetworkPlan,
        recipe: Recipe,
        *,
        standardize: bool,
        dtype: torch.dtype,
        device: torch.device,
        seed: int,
    ) -> None:
        self.plan = plan
        self.recipe = recipe
        self.scaler = StandardScaler() if standardize else None
        self.dtype = torch.float32 if device.type == "mps" else dtype  # mps has no float64
        self.seed = seed
        self.network = plan.build(seed=seed).to(device=device, dtype=self.dtype).eval()
        self.optimizer: torch.optim.Optimizer | None = None

    def fit(self, train: Samples, valid: Samples | None, *, full_batch: bool = False, verbose: bool = False) -> Curves:
        """Trains the network.

        Args:
            train: Training samples.
            valid: Samples that choose the epoch, see `fit_network`, or the penalty, see `fit_full_batch`.
            full_batch: Whether to minimise the loss of all samples if the method allows it, see `fit_full_batch`. The
                network must be linear.
            verbose: Whether to show a progress bar.
        """
        self._learn_scale(train)
        table, decay = self._table(train), self.recipe.weight_decay
        with same_bits():
            held_out = None if valid is None else self._table(valid)
            if full_batch and suits_full_batch(self.network, table):
                return fit_full_batch(self.network, table, held_out, weight_decay=decay, verbose=verbose)
            return fit_network(self.network, table, held_out, self.recipe, seed=self.seed, verbose=verbose)

    def go_on(self, train: Samples, recipe: Recipe, *, epoch: int) -> float:
        """Trains one more pass over some samples, which also update the scaler; returns their mean loss.

        If it fails, nothing changes.

        Args:
            train: Training samples.
            recipe: The recipe; learning rate, weight decay and batch size may differ from earlier passes.
            epoch: Number of earlier passes.
        """
        with unchanged_by_failure(self):
            # Trains copies: an interrupted pass or a diverging step would otherwise stay in the weights.
            self.network, self.optimizer, self.scaler = copy.deepcopy((self.network, self.optimizer, self.scaler))
            self.recipe = recipe
            self._learn_scale(train)
            if self.optimizer is None:
                self.optimizer = make_optimizer(self.network, recipe)
            set_learning_rate(self.optimizer, recipe.lr)
            for group in self.optimizer.param_groups:
                group["weight_decay"] = recipe.weight_decay
            table = self._table(train)
            with random_numbers(self.seed + epoch, table.rows.device) as order, same_bits():
                loss = train_epoch(self.network, table, self.optimizer, batch_size=self.recipe.batch_size, order=order)
            self.network.method.tighten()
            self.network.eval()
        return loss

    @torch.inference_mode()
    def answers(self, rows: Rows) -> tuple[LogProbs, Labels]:
        """Returns the log-probabilities in float64 and the labels predicted by the method, on the CPU."""
        log_probs, labels = [], []
        with same_bits():
            for start in range(0, len(rows), ROWS_A_BATCH):
                outputs = self.network(self._inputs(rows[start : start + ROWS_A_BATCH]))
                outputs = outputs if outputs.device.type == "mps" else outputs.double()
                log_probs.append(self.network.method.log_probs(outputs).cpu().double())
                labels.append(self.network.method.predict(outputs).cpu())
        return torch.cat(log_probs), torch.cat(labels)

    def _learn_scale(self, samples: Samples) -> None:
        if self.scaler is not None:
            self.scaler.partial_fit(samples.rows, sample_weight=samples.weights)

    def _inputs(self, rows: Rows) -> torch.Tensor:
        scaled = rows if self.scaler is None else self.scaler.transform(rows)
        return torch.tensor(scaled, dtype=self.dtype, device=self._device)

    def _table(self, samples: Samples) -> Table:
        return Table(
            rows=self._inputs(samples.rows),
            labels=torch.tensor(samples.labels, device=self._device),
            weights=torch.tensor(samples.weights, dtype=self.dtype, device=self._device),
        )

    @property
    def _device(self) -> torch.device:
        return next(self.network.parameters()).device

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["network"]
        state["optimizer"] = self.optimizer is not None
        return state | {"weights": to_bytes(self.network, self.optimizer), "dtype": str(self.dtype).split(".")[-1]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        weights, has_optimizer = state.pop("weights"), state.pop("optimizer")
        self.__dict__.update(state)
        self.dtype = getattr(torch, state["dtype"])
        self.network = self.plan.build(seed=0).to(self.dtype).eval()
        self.optimizer = make_optimizer(self.network, self.recipe) if has_optimizer else None
        from_bytes(weights, self.network, self.optimizer)
