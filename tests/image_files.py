"""AnyImage files of random pixels and of other depths, for the tests of the image store, its batches and serving."""

import numpy as np
from PIL import Image

from onepeak.data.manifest import ImageFiles


def write_images(root, sizes):
    """Writes PNG files of these heights and widths; gives the items and the pixels."""
    root.mkdir(exist_ok=True)
    rng = np.random.default_rng(len(sizes))
    pixels = [rng.integers(0, 256, (height, width, 3), np.uint8) for height, width in sizes]
    names = tuple(f"{number}.png" for number in range(len(sizes)))
    for name, values in zip(names, pixels, strict=True):
        Image.fromarray(values).save(root / name)
    return ImageFiles(root=root, paths=names), pixels


def in_twelve_bits(grey):
    """8-bit shades as a scanner writes them, 12 bits in a file of 16: 255 is 4095."""
    return np.round(grey * (4095 / 255)).astype(np.uint16)
