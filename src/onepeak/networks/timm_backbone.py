"""Any timm image network by name, cut before its pooling: images in, feature maps out."""

from types import ModuleType
from typing import Any, final

import torch
from torch import Tensor, nn

from onepeak._extras import require
from onepeak._nearest import did_you_mean
from onepeak.errors import InputError, UnknownNameError, first_line
from onepeak.networks._check import check_images
from onepeak.networks._shapes import Images, Maps

_ANY_SIZE: tuple[dict[str, bool], ...] = (
    {"strict_img_size": False},  # windowed transformers, which silently accept the other options
    {"dynamic_img_size": True, "dynamic_img_pad": True},  # vision transformers
    {"dynamic_img_size": True},
    {},  # convolutional networks accept any size
)
"""Options that let a timm family accept images of any size; a family rejects options that it does not know."""

_SIGNS_OF_SIZE = ("size of tensor", "Kernel size", "shape '")
"""Parts of torch's error messages about image size."""


@final
class TimmBackbone(nn.Module):
    """The feature maps of a timm network.

    Convolutional networks and most transformers accept any image size. The tokens of transformers are arranged as maps.

    Args:
        name: A name in `timm.list_models()`, with or without a weight tag.
        pretrained: Whether to download timm's weights; otherwise nothing is downloaded.

    Example:
        >>> TimmBackbone("resnet18")(torch.zeros(2, 3, 64, 96)).shape
        torch.Size([2, 512, 2, 3])
        >>> TimmBackbone("resnt18")
        Traceback (most recent call last):
        onepeak.errors.UnknownNameError: Unknown backbone 'resnt18'. Did you mean 'resnet18'? Known: mlp, small, ...
    """

    def __init__(self, name: str, *, pretrained: bool = False) -> None:
        super().__init__()
        timm = require("timm", extra="train", purpose="A backbone by name")
        _check_name(timm, name, pretrained)
        self.name = name
        self.model = _create(timm, name, pretrained)
        self.num_channels = self._look()
        """Channels of the feature maps."""

    def forward(self, images: Images) -> Maps:
        """Returns feature maps."""
        check_images(images)
        try:
            return self._maps(images)
        except (AssertionError, RuntimeError) as error:
            size, own = tuple(images.shape[2:]), tuple(self.model.pretrained_cfg["input_size"][1:])
            about_size = isinstance(error, AssertionError) or any(sign in str(error) for sign in _SIGNS_OF_SIZE)
            if size == own or not about_size:
                raise
            raise InputError(
                f"`images` must have a size that {self.name!r} accepts, such as its own {own[0]}x{own[1]}, got "
                f"{size[0]}x{size[1]} ({first_line(error)}). Networks such as resnet18 accept any size."
            ) from error

    def _maps(self, images: Tensor) -> Tensor:
        if self.gives_maps:
            maps: Tensor = self.model(images)
            return maps
        layout: dict[str, Any] = {"norm": True, "output_fmt": "NCHW", "intermediates_only": True}
        last: Tensor = self.model.forward_intermediates(images, indices=1, **layout)[-1]
        return last

    @torch.no_grad()
    def _look(self) -> int:
        """Runs one image through the network to find how it returns maps and how many channels they have."""
        parameter = next(self.model.parameters())
        picture = torch.zeros(1, *self.model.pretrained_cfg["input_size"], device=parameter.device)
        widths = {getattr(self.model, width, None) for width in ("num_features", "head_hidden_size")}
        training = self.model.training
        self.model.eval()  # batch norm must not learn from this image
        try:
            for gives_maps in (True, False) if hasattr(self.model, "forward_intermediates") else (True,):
                self.gives_maps = gives_maps
                maps = self._maps(picture)
                if isinstance(maps, Tensor) and maps.ndim == 4 and maps.shape[1] in widths:
                    return int(maps.shape[1])
        finally:
            self.model.train(training)
        raise _no_maps(self.name)


def _check_name(timm: ModuleType, name: str, pretrained: bool) -> None:
    if not timm.is_model(name):
        names = ["mlp", "small", *timm.list_models()]
        known = f"Known: mlp, small, and the {len(names) - 2} of timm.list_models()."
        raise UnknownNameError(f"Unknown backbone {name!r}.{did_you_mean(name, names)} {known}")
    if pretrained and not timm.is_model_pretrained(name):
        raise InputError(f"timm has no pretrained weights for {name!r}: leave them out, or give a file with --weights.")


def _create(timm: ModuleType, name: str, pretrained: bool) -> Any:
    # Some families cannot be built without pooling; their maps are taken before it.
    for pooling in ({"global_pool": ""}, {}):
        for options in _ANY_SIZE:
            try:
                return timm.create_model(name, pretrained=pretrained, num_classes=0, **pooling, **options)
            except TypeError as error:
                if not any(option in str(error) for option in (*pooling, *options)):
                    raise
            except AssertionError:
                break
            except Exception as error:
                if not pretrained:
                    raise InputError(f"timm cannot build the backbone {name!r}: {first_line(error)}") from error
                # Each source of weights (hub, http, file, timm) raises its own errors; the user sees one.
                raise InputError(
                    f"The pretrained weights of {name!r} could not be downloaded ({first_line(error)}). "
                    "Give a local file instead, with --weights FILE or weights=."
                ) from error
    raise _no_maps(name)


def _no_maps(name: str) -> InputError:
    return InputError(
        f"timm gives no feature maps for {name!r}: use a convolutional network (resnet18, convnext_tiny, "
        "efficientnet_b0) or a transformer with a grid (vit_small_patch16_224, swin_tiny_patch4_window7_224)."
    )
