"""What training in several processes at once asks for."""

from typing import TYPE_CHECKING

from onepeak._extras import require
from onepeak.errors import InputError
from onepeak.networks.network import Network
from onepeak.training.recipe import Recipe

if TYPE_CHECKING:
    from lightning.fabric import Fabric


def check_share(recipe: Recipe, world_size: int) -> None:
    """Every process must get a sample of every batch."""
    if recipe.batch_size < world_size:
        raise InputError(f"`batch_size` must be at least the {world_size} processes, got {recipe.batch_size}.")


def synchronise_batch_norm(network: Network, fabric: "Fabric") -> None:
    """Makes batch norm take its statistics over all processes, in place.

    timm has its own conversion, which keeps the activation that its batch norms carry; PyTorch's would drop it.
    """
    if fabric.device.type != "cuda":
        raise InputError(f"`sync_batch_norm` must be off on {fabric.device.type}: PyTorch has it for CUDA only.")
    layers = require("timm.layers", extra="train", purpose="Synchronised batch norm")
    if fabric.world_size > 1:
        network.backbone = layers.convert_sync_batchnorm(network.backbone)
        network.head = layers.convert_sync_batchnorm(network.head)
