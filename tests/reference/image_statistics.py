"""Plain numbers of a image, pixel by pixel."""

import math
from itertools import pairwise
from statistics import fmean, pstdev


def image_statistics(image):
    """Of a list of rows, each a list of (red, green, blue)."""
    pixels = [pixel for row in image for pixel in row]
    red, green, blue = (fmean(pixel[colour] for pixel in pixels) for colour in range(3))
    grey = [[sum(pixel) / 3 for pixel in row] for row in image]
    spread = pstdev(value for row in grey for value in row)
    steps = [abs(right - left) for row in grey for left, right in pairwise(row)]
    return {
        "brightness": fmean(value for row in grey for value in row),
        "contrast": math.log2(1 + spread),
        "grain": math.log2(1 + (fmean(steps) if steps else 0)) - math.log2(1 + spread),
        "redness": red - green,
        "yellowness": (red + green) / 2 - blue,
    }
