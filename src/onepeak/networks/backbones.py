"""The backbones: any timm image network by name, a small one for small images on a CPU, and one for tables."""

from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any, final

import torch
from torch import Tensor, nn

from onepeak._core.check import check_integer, check_number
from onepeak._core.imports import require
from onepeak._core.tensors import Features, Images, Maps, Rows
from onepeak._core.wording import did_you_mean
from onepeak.errors import InputError, UnknownNameError, first_line

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
        self.name = name
        self.model = _create(timm, name, pretrained)
        self.num_channels = self._look()
        """Channels of the feature maps."""

    def forward(self, images: Images) -> Maps:
        _check("images", images, ("batch", 3, "height", "width"))
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
        else:
            layout: dict[str, Any] = {"norm": True, "output_fmt": "NCHW", "intermediates_only": True}
            maps = self.model.forward_intermediates(images, indices=1, **layout)[-1]
        return maps

    @torch.no_grad()
    def _look(self) -> int:
        """Runs one image through the network to find how it returns maps and how many channels they have."""
        parameter = next(self.model.parameters())
        image = torch.zeros(1, *self.model.pretrained_cfg["input_size"], device=parameter.device)
        widths = {getattr(self.model, width, None) for width in ("num_features", "head_hidden_size")}
        training = self.model.training
        self.model.eval()  # batch norm must not learn from this image
        try:
            for gives_maps in (True, False) if hasattr(self.model, "forward_intermediates") else (True,):
                self.gives_maps = gives_maps
                maps = self._maps(image)
                if isinstance(maps, Tensor) and maps.ndim == 4 and maps.shape[1] in widths:
                    return int(maps.shape[1])
        finally:
            self.model.train(training)
        raise _no_maps(self.name)


def _create(timm: ModuleType, name: str, pretrained: bool) -> Any:
    if not timm.is_model(name):
        names = ["mlp", "small", *timm.list_models()]
        known = f"Known: mlp, small, and the {len(names) - 2} of timm.list_models()."
        raise UnknownNameError(f"Unknown backbone {name!r}.{did_you_mean(name, names)} {known}")
    if pretrained and not timm.is_model_pretrained(name):
        raise InputError(f"timm has no pretrained weights for {name!r}: leave them out, or give a file with --weights.")

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


WIDTHS = (32, 64, 96, 96, 128)
STRIDES = (2, 2, 2, 1, 1)


@final
class SmallConvNet(nn.Module):
    """Five blocks of 3x3 convolution, batch norm and ReLU; the first three halve the size, so 64x64 becomes 8x8.

    270 thousand parameters. Any image size works.

    Example:
        >>> SmallConvNet()(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 128, 8, 8])
    """

    num_channels = WIDTHS[-1]
    """Channels of the feature maps."""

    def __init__(self) -> None:
        super().__init__()
        inputs = (3, *WIDTHS[:-1])
        self.blocks = nn.Sequential(*(_block(*each) for each in zip(inputs, WIDTHS, STRIDES, strict=True)))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Images) -> Maps:
        """Returns feature maps at one eighth of the image size, rounded up."""
        _check("images", images, ("batch", 3, "height", "width"))
        maps: torch.Tensor = self.blocks(images)
        return maps


def _block(num_inputs: int, num_outputs: int, stride: int) -> nn.Sequential:
    convolution = nn.Conv2d(num_inputs, num_outputs, kernel_size=3, stride=stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(num_outputs), nn.ReLU(inplace=True))


@final
class Mlp(nn.Module):
    """Blocks of linear layer, layer norm, ReLU and dropout.

    It uses layer norm rather than batch norm because the last batch of a table may hold a single row. Columns should be
    standardised and have no missing values.

    Args:
        num_features: Number of columns of the table.
        hidden: Width of each block; empty for a linear model.
        dropout: Share of a block's outputs set to zero in training, from 0 to below 1.

    Example:
        >>> Mlp(10, hidden=(32, 16))(torch.zeros(2, 10)).shape
        torch.Size([2, 16])
    """

    def __init__(self, num_features: int, *, hidden: Sequence[int] = (64, 64), dropout: float = 0.0) -> None:
        super().__init__()
        self.num_features = check_integer("num_features", num_features, minimum=1)
        check_number("dropout", dropout, minimum=0, below=1)
        widths = [self.num_features, *(check_integer("hidden", width, minimum=1) for width in hidden)]
        if dropout and len(widths) == 1:
            raise InputError(f"`dropout` does nothing without hidden layers, got {dropout!r}: give `hidden` widths.")
        self.num_channels = widths[-1]
        """Number of features per row."""
        rest: list[nn.Module] = [nn.Dropout(dropout)] if dropout else []
        self.blocks = nn.Sequential(
            *(nn.Sequential(nn.Linear(*pair), nn.LayerNorm(pair[1]), nn.ReLU(), *rest) for pair in pairwise(widths))
        )

    def forward(self, rows: Rows) -> Features:
        _check("rows", rows, ("batch", self.num_features))
        features: torch.Tensor = self.blocks(rows)
        return features


def _check(name: str, inputs: Tensor, shape: tuple[int | str, ...]) -> None:
    """Checks for floating point and a shape, in which a word stands for any size."""
    if not isinstance(inputs, Tensor) or not inputs.is_floating_point():
        found = inputs.dtype if isinstance(inputs, Tensor) else type(inputs).__name__
        raise InputError(f"`{name}` must be a floating-point tensor, scaled as in training, got {found}.")
    sizes = zip(inputs.shape, shape, strict=False)
    if inputs.ndim != len(shape) or any(size != wanted for size, wanted in sizes if isinstance(wanted, int)):
        raise InputError(f"`{name}` must have shape ({', '.join(map(str, shape))}), got {tuple(inputs.shape)}.")
