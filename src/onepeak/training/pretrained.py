"""timm's own weights: fetched only when asked for, kept as a file, and the pixels that they were trained on."""

from pathlib import Path
from typing import Literal, TypeAlias

from onepeak._core.files import write_in_one_step
from onepeak._core.imports import require
from onepeak.data.images.store.key import default_cache_dir
from onepeak.errors import InputError
from onepeak.networks.backbones import TimmBackbone
from onepeak.networks.own_backbone import is_own

PRETRAINED = "pretrained"
"""What `--weights` says in place of a file."""

Normalise: TypeAlias = Literal["paper", "timm"]
"""How pixels become inputs: from -1 to 1, as in the paper; or by the mean and deviation of timm's weights."""


def pretrained_file(backbone: str) -> Path:
    """Returns timm's weights of a backbone as a file, which later runs and other machines of a cluster read.

    Where there is none yet, timm fetches them into its own cache, which needs a network.
    """
    _check_timm(backbone, "weights", PRETRAINED)
    timm = require("timm", extra="train", purpose="Pretrained weights")
    config = timm.models.get_pretrained_cfg(backbone)
    tag = "" if config is None or "." in backbone else f".{config.tag}"
    path = default_cache_dir() / "weights" / f"{backbone}{tag}.safetensors"
    if not path.is_file():
        weights = TimmBackbone(backbone, pretrained=True).model.state_dict()
        safetensors = require("safetensors.torch", extra="train", purpose="Pretrained weights")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_in_one_step(path, lambda part: safetensors.save_file(weights, part))
    return path


def timm_pixels(backbone: str) -> dict[str, tuple[float, ...]]:
    """Returns the mean and deviation of timm's weights, as settings of a network."""
    _check_timm(backbone, "normalise", "timm")
    timm = require("timm", extra="train", purpose="A backbone by name")
    config = timm.models.get_pretrained_cfg(backbone)
    if config is None:
        raise InputError(f"`normalise` 'timm' needs a backbone that timm has weights for, got {backbone!r}.")
    return {"mean": tuple(config.mean), "std": tuple(config.std)}


def _check_timm(backbone: str, argument: str, value: str) -> None:
    if is_own(backbone) or backbone in ("mlp", "small"):
        raise InputError(
            f"`{argument}` {value!r} needs a backbone of timm, got {backbone!r}: give another --backbone, or leave "
            f"--{argument} out.",
            argument=argument,
        )
