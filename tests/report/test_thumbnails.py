import base64
import io

import numpy as np
from PIL import Image

from onepeak.report.thumbnails import SIDE, pixels, thumbnail


def test_a_large_picture_becomes_a_small_one_of_the_same_shape():
    address = thumbnail(Image.new("RGB", (800, 400), "red"))
    head, _, code = address.partition(",")
    assert head == "data:image/jpeg;base64"
    picture = Image.open(io.BytesIO(base64.b64decode(code)))
    assert picture.size == (SIDE, SIDE // 2)
    assert np.abs(np.asarray(picture).mean(axis=(0, 1)) - [254, 0, 0]).max() < 3


def test_a_small_picture_is_not_enlarged_nor_the_one_given_changed():
    given = Image.new("L", (8, 6), 7)
    assert pixels(given).shape == (6, 8, 3)
    assert (given.size, given.mode) == ((8, 6), "L")
