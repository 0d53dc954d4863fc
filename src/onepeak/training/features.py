"""Features of a frozen backbone: one pass over the images, kept beside their store, from which every method trains."""

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from onepeak._core.files import link_or_copy, write_in_one_step
from onepeak._core.imports import require
from onepeak.data.images.augment import Augment, evaluation_batches
from onepeak.data.images.store.build import Progress, progress_of
from onepeak.data.images.store.images import ImageStore
from onepeak.methods.catalog import method
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.head import MapHead
from onepeak.networks.inputs import ImageInput
from onepeak.networks.network import Network
from onepeak.networks.own_backbone import source_digest
from onepeak.training.devices import same_bits

BACKBONE = "backbone.safetensors"
"""The weights of a frozen backbone in a model's folder, beside the file with those of the head and the method."""
_IMAGES_AT_ONCE = 16


@dataclass(frozen=True, kw_only=True, eq=False)
class Features:
    """What a frozen backbone gives for every image of a store, in its order."""

    values: Tensor
    """float32, images x views x channels: means of the feature maps. The first view is the image, others are flips."""
    of_maps: bool
    """Whether the backbone gives maps, so that the head gives evidence maps."""
    backbone: Path
    """The file of its weights, as in `BACKBONE`."""

    @property
    def digest(self) -> str:
        """Identifies the images, the backbone and the pixels behind the values."""
        return self.backbone.name.partition(".")[0]

    def link_backbone(self, folder: Path) -> None:
        """Puts the weights into a model's folder, without a copy where the disk allows it."""
        target = folder / BACKBONE
        if target.exists() or not self.backbone.exists():  # on a node of a cluster, whose runs are sent home
            return
        link_or_copy(self.backbone, target)


def features_of(
    store: ImageStore,
    network: NetworkSettings,
    augment: Augment,
    *,
    weights: Path | None,
    device: torch.device,
    progress: Progress = None,
) -> Features:
    """Returns the features of all images, from the cache beside the store if they are there.

    The mean of a 1x1 convolution of maps is that of their mean, so a head that averages learns from means what it would
    from maps. Flips are those of the recipe; crops and colours do not change.
    """
    with torch.inference_mode(), same_bits():
        whole, state, values, backbone = _backbone(store, network, augment, weights=weights, device=device)
        of_maps = isinstance(whole.head, MapHead)
        safetensors = require("safetensors.torch", extra="train", purpose="Features of a frozen backbone")
        with suppress(Exception):  # a damaged file is written again
            if backbone.exists():
                return Features(values=safetensors.load_file(values)["values"], of_maps=of_maps, backbone=backbone)
        flips, channels = flips_of(augment), int(getattr(whole.backbone, "num_channels"))  # noqa: B009 - of any type
        read = ImageInput(network.mean, network.std).to(device)
        found = torch.empty(len(store), len(flips), channels)
        with progress_of(progress, title=f"Features by {network.backbone}", total=len(store)) as advance:
            for places, batch in evaluation_batches(
                store, np.arange(len(store)), batch_size=_IMAGES_AT_ONCE, device=device
            ):
                for view, axes in enumerate(flips):
                    given = whole.backbone(read(batch.flip(axes) if axes else batch))
                    found[places, view] = (given.mean(dim=(2, 3)) if of_maps else given).float().cpu()
                advance(len(places))
    values.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_in_one_step(values, lambda part: safetensors.save_file({"values": found}, part))
    write_in_one_step(backbone, lambda part: safetensors.save_file({k: v.contiguous() for k, v in state.items()}, part))
    return Features(values=found, of_maps=of_maps, backbone=backbone)


def has_features(
    store: ImageStore, network: NetworkSettings, augment: Augment, *, weights: Path | None, device: torch.device
) -> bool:
    """Returns whether `features_of` would find them in the cache."""
    return _backbone(store, network, augment, weights=weights, device=device)[-1].exists()


def _backbone(
    store: ImageStore, network: NetworkSettings, augment: Augment, *, weights: Path | None, device: torch.device
) -> tuple[Network, dict[str, Tensor], Path, Path]:
    """Builds the network; returns it, its backbone's weights, and the files of the features and of these weights."""
    whole = build_network(method("ce", num_classes=2), network, weights=weights, seed=0).to(device).eval()
    state = {f"backbone.{name}": value.cpu() for name, value in whole.backbone.state_dict().items()}
    source = [network.backbone, source_digest(network.backbone), network.mean, network.std]
    settings = [store.folder.name, *source, flips_of(augment), device.type]  # devices differ in the last bits
    digest = hashlib.sha256(json.dumps(settings).encode())
    for name, value in state.items():
        digest.update(name.encode() + value.contiguous().numpy().tobytes())
    key, folder = digest.hexdigest()[:24], store.folder.parent / "features"
    return whole, state, folder / f"{key}.features.safetensors", folder / f"{key}.{BACKBONE}"


def flips_of(augment: Augment) -> list[list[int]]:
    """The axes that each view of an image is flipped along; the first is the image itself."""
    views: list[list[int]] = [[]]
    for axis, wanted in ((-1, augment.horizontal_flip), (-2, augment.vertical_flip)):
        views += [[*view, axis] for view in views] if wanted else []
    return views
