"""The scaler and the network of a fitted estimator: how they are trained and pickled."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt
import torch
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from onepeak._core.tensors import Labels, LogProbs
from onepeak.errors import InputError
from onepeak.estimator.fit import (
    Curves,
    DeviceRows,
    fit_full_batch,
    fit_network,
    random_numbers,
    suits_full_batch,
    train_epoch,
)
from onepeak.estimator.rows import LabelledRows
from onepeak.methods.catalog import method
from onepeak.methods.method import Variant
from onepeak.methods.record import MethodRecord
from onepeak.networks.build import NetworkSettings, build_network, network_around
from onepeak.networks.head import RowHead
from onepeak.networks.network import Network
from onepeak.networks.weights import seeded
from onepeak.training.devices import same_bits
from onepeak.training.optimizer import make_optimizer, set_learning_rate
from onepeak.training.recipe import Recipe

Backbone: TypeAlias = nn.Module | Callable[[int], nn.Module]
"""A module from rows to features, or a function that makes one for a number of columns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkPlan:
    """Method, numbers of classes and columns, and the layers between them."""

    method: str | MethodRecord
    variant: Variant
    method_settings: Mapping[str, Any]
    num_classes: int
    num_features: int
    hidden: Sequence[int]
    dropout: float
    backbone: Backbone | None
    """The user's own network; None for a perceptron."""

    def __post_init__(self) -> None:
        if not isinstance(self.method, str | MethodRecord):
            raise InputError(
                f"`method` must be a method's name or a MethodRecord, got {self.method!r}: see onepeak.methods()."
            )
        if not isinstance(self.method_settings, Mapping):
            raise InputError(
                f"`method_settings` must be a dictionary of the method's own settings, got {self.method_settings!r}."
            )
        if not isinstance(self.hidden, Sequence):
            raise InputError(f"`hidden` must be a sequence of widths such as (64, 64), got {self.hidden!r}.")
        if self.backbone is not None:
            for name, value, default in (("hidden", tuple(self.hidden), (64, 64)), ("dropout", self.dropout, 0)):
                if value != default:
                    raise InputError(f"`{name}` does nothing with your own `network`, got {value!r}: leave it out.")

    def build(self, *, seed: int | None) -> Network:
        """Builds the untrained network, in float32 on the CPU; the user's own module keeps its weights."""
        built = method(self.method, num_classes=self.num_classes, variant=self.variant, **self.method_settings)
        if self.backbone is None:
            settings = NetworkSettings(
                backbone="mlp", num_features=self.num_features, hidden=tuple(self.hidden), dropout=self.dropout
            )
            return build_network(built, settings, seed=seed)
        example = torch.zeros(2, self.num_features)
        return network_around(built, self._own_backbone(seed), example=example, seed=seed)

    def _own_backbone(self, seed: int | None) -> nn.Module:
        if isinstance(self.backbone, nn.Module):
            return copy.deepcopy(self.backbone).float().cpu()  # the user's module is not changed
        if not callable(self.backbone):
            raise InputError(
                "`network` must be a module from rows to features, or a function that makes one for a number of "
                f"columns, got {self.backbone!r}."
            )
        with seeded(seed, "backbone"):
            module = self.backbone(self.num_features)
        if not isinstance(module, nn.Module):
            raise InputError(f"`network` must return a torch.nn.Module, got {type(module).__name__}.")
        return module


Rows = npt.NDArray[np.floating]

ROWS_A_BATCH = 4096
"""Most rows that are predicted at once."""


@final
class RowModel:
    """From rows of numbers to a method's predictions.

    A pickle holds the weights as arrays and the rest as plain values; after unpickling, the network is on the CPU.
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

    def fit(
        self, train: LabelledRows, valid: LabelledRows | None, *, full_batch: bool = False, verbose: bool = False
    ) -> Curves:
        """Trains the network: a linear one with `full_batch` to its optimum if the method allows it, else by steps.

        Validation samples choose the penalty of the former and the epoch of the latter.
        """
        self._learn_scale(train)
        table, decay = self._table(train), self.recipe.weight_decay
        with same_bits():
            held_out = None if valid is None else self._table(valid)
            if full_batch and suits_full_batch(self.network, table):
                return fit_full_batch(self.network, table, held_out, weight_decay=decay, verbose=verbose)
            return fit_network(self.network, table, held_out, self.recipe, seed=self.seed, verbose=verbose)

    def go_on(self, train: LabelledRows, recipe: Recipe, *, epoch: int) -> float:
        """Trains one more pass over some samples, which also update the scaler; returns their mean loss.

        If it fails, nothing changes. Learning rate, weight decay and batch size may differ from the `epoch` passes
        before.
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

    def linear(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Returns weights and biases of a linear network on the columns before they are standardised."""
        assert isinstance(self.network.head, RowHead)
        layer = self.network.head.classifier
        weights, biases = (each.detach().cpu().double().numpy() for each in (layer.weight, layer.bias))
        if self.scaler is None:
            return weights, biases
        weights = weights / self.scaler.scale_
        return weights, biases - weights @ self.scaler.mean_

    def _learn_scale(self, samples: LabelledRows) -> None:
        if self.scaler is not None:
            self.scaler.partial_fit(samples.rows, sample_weight=samples.weights)

    def _inputs(self, rows: Rows) -> torch.Tensor:
        scaled = rows if self.scaler is None else self.scaler.transform(rows)
        return torch.tensor(scaled, dtype=self.dtype, device=self._device)

    def _table(self, samples: LabelledRows) -> DeviceRows:
        return DeviceRows(
            rows=self._inputs(samples.rows),
            labels=torch.tensor(samples.labels, device=self._device),
            weights=torch.tensor(samples.weights, dtype=self.dtype, device=self._device),
        )

    @property
    def _device(self) -> torch.device:
        return next(self.network.parameters()).device

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"dtype": str(self.dtype).split(".")[-1]}
        state["network"] = _arrays(self.network.state_dict())
        if self.optimizer is not None:
            of_parameters = self.optimizer.state_dict()["state"]
            state["optimizer"] = {index: _arrays(values) for index, values in of_parameters.items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.dtype = getattr(torch, state["dtype"])
        self.network = self.plan.build(seed=0).to(self.dtype).eval()
        self.network.load_state_dict(_tensors(state["network"]))
        if state["optimizer"] is not None:
            self.optimizer = make_optimizer(self.network, self.recipe)
            of_parameters = {index: _tensors(values) for index, values in state["optimizer"].items()}
            self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": of_parameters})


def _arrays(tensors: Mapping[str, Tensor]) -> dict[str, npt.NDArray[Any]]:
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def _tensors(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


@contextmanager
def unchanged_by_failure(thing: object) -> Iterator[None]:
    """Restores the attributes of an object if the code inside fails."""
    before = dict(vars(thing))
    try:
        yield
    except BaseException:  # including Ctrl-C
        vars(thing).clear()
        vars(thing).update(before)
        raise
