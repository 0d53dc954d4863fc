"""Renders the tissue of a generated biopsy: the amount of each stain per pixel, and the light that passes through.

Pixels are computed with sums, products, quotients, square roots and one lookup table only. IEEE 754 defines the
rounding of each, so the images are bit-identical on every machine. Images are drawn in small batches to save memory.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak.data.biopsies_chance import Array, Chance, Indices, Use
from onepeak.data.biopsies_nuclei import BORDER, PIXEL, Nuclei, fibre_direction, nuclei_of

Plane: TypeAlias = npt.NDArray[np.float32]

# Optical density of one unit of stain for red, green and blue light: haematoxylin looks purple, eosin pink. A
# patient's stains deviate from these along STRAYING, towards red or towards blue.
HAEMATOXYLIN = (1.02, 1.08, 0.52)
EOSIN = (0.16, 1.02, 0.52)
STRAYING = (1.0, 0.0, -1.0)
CYTOPLASM = 3.5 * PIXEL
"""How far a cell's body extends beyond its nucleus."""
PIXELS_AT_ONCE = 1 << 16


def draw(seed: int, ids: Indices, patients: Indices, severity: Array, *, size: int) -> npt.NDArray[np.uint8]:
    """Draws the images with these numbers: uint8, images x size x size x 3.

    Args:
        seed: Seed of the data set.
        ids: The number of each image.
        patients: The number of each image's patient.
        severity: One per image, from 0 to 1.
        size: Side of the images in pixels.
    """
    pixels = np.empty((len(ids), size, size, 3), dtype=np.uint8)
    step = max(1, PIXELS_AT_ONCE // size**2)
    for first in range(0, len(ids), step):
        part = slice(first, first + step)
        pixels[part] = _draw_few(seed, ids[part], patients[part], severity[part], size)
    return pixels


def _draw_few(seed: int, ids: Indices, patients: Indices, severity: Array, size: int) -> npt.NDArray[np.uint8]:
    """Draws a batch of images: the place of each stain, its strength, and the light that passes through."""
    chance = Chance(seed, Use.TISSUE, ids)
    nuclei, body = paint_nuclei(
        nuclei_of(seed, ids, patients, severity), blur=PIXEL * chance.between(0.5, 1.9), size=size
    )
    bend = _waves(chance, size=size, along=chance.between(-1.0, 1.0, 1, 2))
    fibres = paint_fibres(chance, fibre_direction(seed, ids), bend)
    chromatin = _waves(chance, size=size, along=chance.between(-16.0, 16.0, 4, 2)) / 2
    tissue = 1 - paint_lumens(chance, bend)

    purple = nuclei / (1 + np.float32(0.35) * nuclei)  # the darkness of overlapping nuclei saturates
    purple = purple * (1 + np.float32(0.14) * chromatin)
    body = body / (1 + body)
    pink = np.float32(0.36) + np.float32(0.16) * fibres + np.float32(0.2) * body
    pink = pink * (1 - np.float32(0.5) * np.minimum(purple, 1))
    purple = purple + np.float32(0.04) + np.float32(0.1) * body

    stain = Chance(seed, Use.PATIENT_STAIN, patients)
    purple *= tissue * _each(stain.between(0.75, 1.25) * chance.between(0.9, 1.1))
    pink *= tissue * _each(stain.between(0.65, 1.35) * chance.between(0.9, 1.1))
    purple_strays, pink_strays = stain.around_zero(0.12), stain.around_zero(0.12)
    shade = _each(chance.between(0.04, 0.14)) + _slope(chance.between(-0.12, 0.12, 2), size)
    shade += _plane(Chance(seed, Use.NOISE, ids).between(-0.035, 0.035, size, size))
    density = [
        purple * _each(HAEMATOXYLIN[c] + STRAYING[c] * purple_strays)
        + pink * _each(EOSIN[c] + STRAYING[c] * pink_strays)
        + shade
        for c in range(3)
    ]
    return light_through(np.stack(density, axis=-1))


def paint_nuclei(nuclei: Nuclei, *, blur: Array, size: int) -> tuple[Plane, Plane]:
    """Paints the haematoxylin of the nuclei, and the cell bodies around them (each images x size x size)."""
    num_pictures = len(blur)
    every, picture = nuclei.in_list()
    furthest = 1 + np.sqrt((every.outline**2).sum(axis=-1)).sum(axis=-1)
    reach = every.stretch * (every.radius * furthest + CYTOPLASM)
    reach = 4 * np.ceil(reach * size / 4).astype(np.int64)  # in pixels; rounded up to a few patch sizes
    # With a margin around the canvas, a nucleus on the border needs no special case.
    margin = int(reach.max(initial=0)) + int(np.ceil(BORDER * size)) + 1
    width = size + 2 * margin
    canvas = np.zeros((2, num_pictures * width * width))
    for r in np.unique(reach):
        of_this_reach = np.nonzero(reach == r)[0]
        group, home = every.take(of_this_reach), picture[of_this_reach]
        offsets = np.arange(-r, r + 1)
        corner = np.floor(group.centre * size).astype(np.int64)
        column, row = corner[:, 0, None] + offsets, corner[:, 1, None] + offsets
        dx = _plane((column + 0.5) / size - group.centre[:, 0, None])[:, None, :]
        dy = _plane((row + 0.5) / size - group.centre[:, 1, None])[:, :, None]
        place = (home[:, None, None] * width + (row + margin)[:, :, None]) * width + (column + margin)[:, None, :]
        softness = np.maximum(blur[home], 0.7 / size)  # an edge sharper than a pixel would look jagged
        for layer, values in zip(canvas, paint_patches(group, dx, dy, softness=_each(softness)), strict=True):
            layer += np.bincount(place.ravel(), weights=values.ravel(), minlength=layer.size)
    inner = slice(margin, margin + size)
    purple, body = _plane(canvas.reshape(2, num_pictures, width, width)[:, :, inner, inner])
    return purple, body


def paint_patches(nuclei: Nuclei, dx: Plane, dy: Plane, *, softness: Plane) -> tuple[Plane, Plane]:
    """Paints each nucleus and its cell body on its own patch, at the distances `dx` and `dy` from its centre."""
    axis_x, axis_y, stretch = _each(nuclei.axis[:, 0]), _each(nuclei.axis[:, 1]), _each(nuclei.stretch)
    along, across = (dx * axis_x + dy * axis_y) / stretch, (dy * axis_x - dx * axis_y) * stretch
    distance: Plane = np.sqrt(along * along + across * across) + np.float32(1e-6)
    # cos(k a) and sin(k a) of the angle a at the centre are the parts of (cos a + i sin a)^k: no angle is needed.
    cosine, sine = along / distance, across / distance
    real, imaginary = cosine, sine
    edge = np.ones_like(distance)
    for k in range(4):
        real, imaginary = real * cosine - imaginary * sine, real * sine + imaginary * cosine
        edge += _each(nuclei.outline[:, k, 0]) * real + _each(nuclei.outline[:, k, 1]) * imaginary
    radius = _each(nuclei.radius)
    inside = radius * edge - distance
    middle = _ramp(inside / radius * np.float32(1.6))
    spot_radius: Plane = np.float32(0.4) * radius + np.float32(0.5) * softness
    spot = _ramp(np.float32(1) - distance / spot_radius)
    purple = _ramp(inside / softness + np.float32(0.5)) * _each(nuclei.density)
    purple *= 1 - _each(nuclei.hollow) * middle + _each(nuclei.nucleolus) * spot
    return purple, _ramp(1 + inside / np.float32(CYTOPLASM))


def paint_fibres(chance: Chance, direction: Array, bend: Plane) -> Plane:
    """Paints the fibres of the stroma: bent waves across their direction, mostly between -1 and 1."""
    across = np.stack([-direction[:, 1], direction[:, 0]], axis=-1)[:, None] + chance.around_zero(0.25, 6, 2)
    often = np.array([3.0, 5.0, 7.0, 9.0, 11.0, 13.0]) + chance.between(0.0, 2.0, 6)
    strength = (0.3, 0.25, 0.2, 0.15, 0.12, 0.1)
    return _waves(chance, size=bend.shape[-1], along=often[..., None] * across, bend=bend, strength=strength)


def paint_lumens(chance: Chance, bend: Plane) -> Plane:
    """Paints empty spaces, 1 inside: at most two round ones per image, often none."""
    x, y = _axes(bend.shape[-1])
    lumens = np.zeros_like(bend)
    for centre, radius in zip(
        np.moveaxis(chance.between(0.0, 1.0, 2, 2), 1, 0), chance.between(-0.25, 0.2, 2).T, strict=True
    ):
        radius = np.where(radius < 3 * PIXEL, -1, radius)  # a tiny one would look like dust
        dx, dy = x - _each(centre[:, 0] - 0.5), y - _each(centre[:, 1] - 0.5)
        away = np.sqrt(dx * dx + dy * dy) + np.float32(0.04) * bend
        lumens = np.maximum(lumens, _ramp((_each(radius) - away) / np.float32(2 * PIXEL) + np.float32(0.5)))
    return lumens


def light_through(density: Plane) -> npt.NDArray[np.uint8]:
    """Returns the light that passes through an optical density (Beer-Lambert law), 255 for all of it.

    Example:
        >>> light_through(np.array([0.0, 0.6931472, 50.0], dtype=np.float32))
        array([255, 128,   0], dtype=uint8)
    """
    step = np.clip(density * np.float32(1024), 0, len(_LIGHT) - 1).astype(np.int32)
    light: npt.NDArray[np.uint8] = _LIGHT[step]
    return light


_LIGHT = np.rint(255 * np.exp(-np.arange(8 * 1024) / 1024)).astype(np.uint8)
"""A table instead of `exp`, whose last bit differs between machines."""


def _waves(
    chance: Chance, *, size: int, along: Array, bend: Plane | None = None, strength: tuple[float, ...] | None = None
) -> Plane:
    """Sums waves with the frequencies `along` (images x waves x 2) and random phases."""
    num_waves = along.shape[1]
    x, y = _axes(size)
    total = np.zeros((len(along), size, size), dtype=np.float32)
    for k, start in enumerate(chance.between(0.0, 1.0, num_waves).T):
        phase = x * _each(along[:, k, 0]) + y * _each(along[:, k, 1]) + _each(start)
        if bend is not None:
            phase = phase + np.float32(0.35) * bend
        centred = 1 - 2 * (phase - np.floor(phase))
        wave = 4 * centred * (1 - np.abs(centred))  # two parabolas, close enough to a sine
        total += wave * np.float32(1 if strength is None else strength[k])
    return total


def _axes(size: int) -> tuple[Plane, Plane]:
    """Returns the x and y coordinates of the pixels, zero at the centre of the image."""
    middle = _plane((np.arange(size) + 0.5) / size - 0.5)
    return middle[None, None, :], middle[None, :, None]


def _slope(steepness: Array, size: int) -> Plane:
    """Returns a linear gradient, zero at the centre of the image, like that of an off-centre lamp."""
    x, y = _axes(size)
    return x * _each(steepness[:, 0]) + y * _each(steepness[:, 1])


def _ramp(values: Plane) -> Plane:
    """Smoothstep: 0 below 0, 1 above 1 and smooth in between."""
    held = np.clip(values, 0, 1)
    return held * held * (3 - 2 * held)


def _plane(values: Array) -> Plane:
    return values.astype(np.float32)


def _each(values: Array) -> Plane:
    """Reshapes one number per image or nucleus to broadcast over its pixels."""
    return values.astype(np.float32)[:, None, None]
