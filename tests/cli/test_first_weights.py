from pathlib import Path

import pytest

from onepeak.cli.first_weights import first_weights_notes


@pytest.mark.parametrize("backbone", ["resnet18", "convnext_tiny"])
def test_a_large_network_without_weights_is_noted_with_the_flag_that_gives_them(backbone):
    (note,) = first_weights_notes(backbone, None)
    assert note.startswith(f"{backbone} begins with random weights: give --weights FILE")
    assert first_weights_notes(backbone, Path("resnet18.safetensors")) == ()


@pytest.mark.parametrize("backbone", ["small", "mlp"])
def test_networks_that_are_made_to_begin_with_nothing_are_not_noted(backbone):
    assert first_weights_notes(backbone, None) == ()
