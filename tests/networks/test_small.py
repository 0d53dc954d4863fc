import pytest
import torch

from onepeak.errors import InputError
from onepeak.networks.small import SmallConvNet


@pytest.mark.parametrize(("size", "maps"), [((64, 64), (8, 8)), ((97, 131), (13, 17)), ((5, 1), (1, 1))])
def test_maps_are_an_eighth_of_the_picture(size, maps):
    assert SmallConvNet().eval()(torch.zeros(2, 3, *size)).shape == (2, 128, *maps)


def test_it_is_small():
    assert 100_000 < sum(parameter.numel() for parameter in SmallConvNet().parameters()) < 300_000


def test_its_parts_keep_the_scale_of_their_inputs(noise):
    maps = SmallConvNet()(noise(8, 3, 64, 64))
    assert 0.3 < maps.std() < 1.5


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("images", "message"),
    [
        (torch.zeros(2, 64, 64, 3), r"`images` must have shape \(batch, 3, height, width\), got \(2, 64, 64, 3\)"),
        (
            torch.zeros(2, 3, 8, 8, dtype=torch.uint8),
            "must be a floating-point tensor, scaled as in training, got torch",
        ),
        ([[0.0]], "`images` must be a floating-point tensor, scaled as in training, got list"),
    ],
)
def test_what_is_no_batch_of_pictures_is_refused(images, message):
    with pytest.raises(InputError, match=message):
        SmallConvNet()(images)
