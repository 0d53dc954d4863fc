import numpy as np
from PIL import Image

from onepeak.data.scaling import scale_picture


def test_shrinking_averages_instead_of_picking_pixels():
    stripes = np.zeros((64, 64, 3), np.uint8)
    stripes[:, ::2] = 255
    small = np.asarray(scale_picture(Image.fromarray(stripes), 16, 16))
    assert np.abs(small[:, 1:-1].astype(int) - 127).max() < 12


def test_a_picture_of_the_right_size_is_not_resampled():
    picture = Image.new("RGB", (3, 2))
    assert scale_picture(picture, 2, 3) is picture
