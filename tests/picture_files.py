"""Picture files of random pixels, for the tests of the image store and its batches."""

import numpy as np
from PIL import Image

from onepeak.data.manifest import ImageFiles


def write_pictures(root, sizes):
    """Writes PNG files of these heights and widths; gives the items and the pixels."""
    root.mkdir(exist_ok=True)
    rng = np.random.default_rng(len(sizes))
    pixels = [rng.integers(0, 256, (height, width, 3), np.uint8) for height, width in sizes]
    names = tuple(f"{number}.png" for number in range(len(sizes)))
    for name, values in zip(names, pixels, strict=True):
        Image.fromarray(values).save(root / name)
    return ImageFiles(root=root, paths=names), pixels
