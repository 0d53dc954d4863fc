"""A method to put behind a network, and the real weights where they are at hand."""

import os
from pathlib import Path

import pytest
import torch

import onepeak


@pytest.fixture
def elb():
    return onepeak.method("elb", num_classes=4)


@pytest.fixture
def noise():
    """Random numbers of a shape, the same in every run."""
    return lambda *shape, seed=0: torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def imagenet_resnet18():
    """ImageNet weights of a ResNet-18 that are not in the repository."""
    shared = Path(os.environ.get("ONEPEAK_SHARED", Path(__file__).parents[3] / "shared"))
    file = shared / "weights" / "resnet18_imagenet_fp16.safetensors"
    if not file.is_file():
        pytest.skip(f"needs {file}; set ONEPEAK_SHARED to the folder that holds weights/")
    return file
