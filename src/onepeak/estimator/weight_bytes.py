"""A fitted network and its optimiser as safetensors bytes, so that a pickled estimator holds no pickled tensors."""

import torch
from torch import Tensor, nn

from onepeak._extras import require

_NETWORK = "network."
_OPTIMIZER = "optimizer."


def to_bytes(network: nn.Module, optimizer: torch.optim.Optimizer | None) -> bytes:
    """Returns the weights and, if there is an optimiser, its state."""
    safetensors = require("safetensors.torch", extra="sklearn", purpose="Pickling an estimator")
    tensors = {_NETWORK + name: tensor for name, tensor in network.state_dict().items()}
    if optimizer is not None:
        for index, values in optimizer.state_dict()["state"].items():
            tensors |= {f"{_OPTIMIZER}{index}.{name}": value for name, value in values.items()}
    # Cloned, because safetensors rejects tensors that share memory, as those of tied layers do.
    content: bytes = safetensors.save({name: tensor.cpu().contiguous().clone() for name, tensor in tensors.items()})
    return content


def from_bytes(content: bytes, network: nn.Module, optimizer: torch.optim.Optimizer | None) -> None:
    """Restores the output of `to_bytes`, in its precision.

    Args:
        content: Output of `to_bytes`.
        network: A network with the same layers.
        optimizer: An optimiser of the network's parameters; None if there was none.
    """
    safetensors = require("safetensors.torch", extra="sklearn", purpose="Unpickling an estimator")
    tensors: dict[str, Tensor] = safetensors.load(content)
    weights = {name.removeprefix(_NETWORK): value for name, value in tensors.items() if name.startswith(_NETWORK)}
    network.load_state_dict(weights)
    if optimizer is None:
        return
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith(_OPTIMIZER):
            index, _, name = key.removeprefix(_OPTIMIZER).partition(".")
            state.setdefault(int(index), {})[name] = value
    in_order = dict(sorted(state.items()))  # safetensors changes the order, differently in every process
    optimizer.load_state_dict(optimizer.state_dict() | {"state": in_order})
