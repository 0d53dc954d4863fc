"""A ResNet-18 whose first layer is three 3x3 convolutions, as in the paper's published code, and weights for it.

Run: python benchmarks/deep_stem.py resnet18.safetensors deep-stem.safetensors
Takes the weights of a ResNet-18 with the usual first layer; those of the new first layers are random, from a seed.
Then: ONEPEAK_TRUST=1 onepeak compare experiments/fgnet-stem.toml --weights deep-stem.safetensors ...
(the experiment names the network as "benchmarks.deep_stem:resnet18", so start it from the checkout's root).
"""

import argparse
from pathlib import Path

import timm
import torch
from safetensors.torch import save_file
from torch import nn

from onepeak.networks.weights import read_weights

STEM = ("conv1.", "bn1.")


def resnet18() -> nn.Module:
    """Feature maps of the network: 3 channels to 32, 32 and 64 in place of the 7x7 convolution to 64."""
    network: nn.Module = timm.create_model("resnet18", num_classes=0, global_pool="", stem_type="deep", stem_width=32)
    return network


def with_random_stem(path: Path, *, seed: int = 0) -> dict[str, torch.Tensor]:
    """The weights of a file, but for the first layers."""
    torch.manual_seed(seed)
    own = resnet18().state_dict()
    given = {name: value for name, value in read_weights(path).items() if name in own and not name.startswith(STEM)}
    return {**own, **{name: value.to(own[name].dtype) for name, value in given.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    save_file(with_random_stem(options.weights), options.out)


if __name__ == "__main__":
    main()
