"""What the estimator's network is made of, so that it can be rebuilt when a fitted estimator is unpickled."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import nn

from onepeak.errors import InputError
from onepeak.methods.catalog import method
from onepeak.methods.method import Variant
from onepeak.methods.record import MethodRecord
from onepeak.networks.build import NetworkSettings, build_network, network_around
from onepeak.networks.network import Network
from onepeak.networks.seeds import seeded

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
        """Builds the untrained network, in float32 on the CPU.

        Args:
            seed: Seed of the initial weights; the user's own module keeps its weights.
        """
        made = method(self.method, num_classes=self.num_classes, variant=self.variant, **self.method_settings)
        if self.backbone is None:
            settings = NetworkSettings(
                backbone="mlp", num_features=self.num_features, hidden=tuple(self.hidden), dropout=self.dropout
            )
            return build_network(made, settings, seed=seed)
        example = torch.zeros(2, self.num_features)
        return network_around(made, self._own_backbone(seed), example=example, seed=seed)

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
