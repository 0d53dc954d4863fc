"""Checks and conversions for training in several processes."""

from typing import TYPE_CHECKING

from onepeak._extras import require
from onepeak.errors import InputError
from onepeak.networks.network import Network
from onepeak.training.recipe import Recipe

if TYPE_CHECKING:
    from lightning.fabric import Fabric


def check_share(recipe: Recipe, world_size: int) -> None:
    """Checks that every process gets a sample of every batch."""
    if recipe.batch_size < world_size:
        raise InputError(
            f"`batch_size` must be at least the number of processes, {world_size}, got {recipe.batch_size}."
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
