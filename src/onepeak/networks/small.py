"""A small convolutional network for small images on a CPU."""

from typing import final

import torch
from torch import nn

from onepeak.networks._check import check_images
from onepeak.networks._shapes import Images, Maps

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
        check_images(images)
        maps: torch.Tensor = self.blocks(images)
        return maps


def _block(num_inputs: int, num_outputs: int, stride: int) -> nn.Sequential:
    convolution = nn.Conv2d(num_inputs, num_outputs, kernel_size=3, stride=stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(num_outputs), nn.ReLU(inplace=True))
