import numpy as np
import pytest
import torch
from torchvision.transforms.v2 import functional as torchvision

from onepeak.data import colour

SEED = torch.Generator().manual_seed(0)
PICTURES = torch.rand(12, 3, 9, 7, generator=SEED)
PICTURES[0] = 0.4  # grey, which has no hue
PICTURES[1] = 0.0
PICTURES[2, :, :4] = 1.0
PICTURES[3, 1:] = 0.0  # pure red
PICTURES[4] = (PICTURES[4] * 4).round() / 4  # ties between colours


def blended(from_mean, from_grey):
    everyone = torch.ones(12)
    return lambda pictures, factors: colour.blend(
        pictures, factors, from_mean=from_mean * everyone, from_grey=from_grey * everyone
    )


ADJUSTMENTS = [
    (blended(0, 0), torchvision.adjust_brightness, (0.0, 2.0)),
    (blended(1, 0), torchvision.adjust_contrast, (0.0, 2.0)),
    (blended(0, 1), torchvision.adjust_saturation, (0.0, 2.0)),
    (colour.turn_hue, torchvision.adjust_hue, (-0.5, 0.5)),
]


@pytest.mark.parametrize(("ours", "theirs", "limits"), ADJUSTMENTS)
def test_each_picture_is_adjusted_as_torchvision_does_it_alone(ours, theirs, limits):
    low, high = limits
    for factors in (torch.linspace(low, high, 12), torch.full((12,), high), torch.full((12,), low)):
        expected = torch.stack([theirs(picture, float(f)) for picture, f in zip(PICTURES, factors, strict=True)])
        torch.testing.assert_close(ours(PICTURES, factors), expected, atol=2e-6, rtol=0)


@pytest.mark.parametrize(("ours", "neutral"), [(a[0], n) for a, n in zip(ADJUSTMENTS, (1, 1, 1, 0), strict=True)])
def test_the_neutral_factor_changes_nothing(ours, neutral):
    torch.testing.assert_close(ours(PICTURES, torch.full((12,), float(neutral))), PICTURES, atol=1e-6, rtol=0)


def test_every_picture_has_its_own_order():
    rng = np.random.default_rng(0)
    pictures = torch.randint(0, 256, (24, 3, 6, 5), dtype=torch.uint8, generator=SEED)
    factors = np.column_stack([rng.uniform(0.4, 1.6, (24, 3)), rng.uniform(-0.2, 0.2, 24)])
    order = np.array([rng.permutation(4) for _ in range(24)])
    expected = []
    for picture, picture_factors, steps in zip(pictures, factors, order, strict=True):
        changed = picture.float() / 255
        for step in steps:
            changed = ADJUSTMENTS[step][1](changed, float(picture_factors[step]))
        expected.append((changed * 255).round().to(torch.uint8))
    ours = colour.jitter(pictures, factors, order)
    assert ours.dtype == torch.uint8
    assert (ours.int() - torch.stack(expected).int()).abs().max() <= 1, "one step where a half is rounded"
    assert (ours == torch.stack(expected)).float().mean() > 0.999


def test_the_memory_layout_is_kept():
    pictures = torch.randint(0, 256, (2, 4, 4, 3), dtype=torch.uint8).permute(0, 3, 1, 2)
    changed = colour.jitter(pictures, np.full((2, 4), 0.3), np.array([[0, 1, 2, 3], [3, 2, 1, 0]]))
    assert changed.is_contiguous(memory_format=torch.channels_last)


def test_neutral_factors_give_the_same_bytes():
    pictures = torch.randint(0, 256, (2, 3, 16, 16), dtype=torch.uint8)
    neutral = np.array([[1.0, 1.0, 1.0, 0.0]] * 2)
    assert (colour.jitter(pictures, neutral, np.array([[0, 1, 2, 3]] * 2)) == pictures).all()
