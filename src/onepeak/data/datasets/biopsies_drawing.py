"""Renders the tissue of a generated biopsy: the amount of each stain per pixel, and the light that passes through.

Pixels are computed with sums, products, quotients, square roots and one lookup table only. IEEE 754 defines the
rounding of each, so the images are bit-identical on every machine. Images are drawn in small batches to save memory.
"""

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]


class Use(IntEnum):
    """The uses of random numbers. Each has its own stream, so that a change to one does not shift the others."""

    PATIENT_SEVERITY = 0
    PATIENT_NUCLEI = 1
    PATIENT_STAIN = 2
    SEVERITY = 3
    LABEL = 4
    TRAITS = 5
    TUMOUR = 6
    LYMPHOCYTES = 7
    SPINDLES = 8
    FIBRES = 9
    TISSUE = 10
    NOISE = 11


class Chance:
    """Random numbers for each of several ids; they depend only on `(seed, use, id)`."""

    def __init__(self, seed: int, use: Use, ids: Indices) -> None:
        self._streams = [np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(int(use), int(i)))) for i in ids]

    def between(self, low: float, high: float, *shape: int) -> Array:
        """Draws uniformly from the open interval (ids x shape)."""
        # NumPy guarantees the raw bits of a bit generator across versions, but not its distributions.
        bits = np.empty((len(self._streams), int(np.prod(shape))), dtype=np.uint64)
        for row, stream in zip(bits, self._streams, strict=True):
            row[:] = stream.random_raw(bits.shape[1])
        unit = ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        return (low + (high - low) * unit).reshape(len(bits), *shape)

    def around_zero(self, width: float, *shape: int) -> Array:
        """Draws from the triangular distribution on +-width, the sum of two uniforms (ids x shape)."""
        first, second = np.moveaxis(self.between(-width / 2, width / 2, 2, *shape), 1, 0)
        both: Array = first + second
        return both

    def direction(self, *shape: int) -> Array:
        """Draws unit vectors (ids x shape x 2)."""
        vector = self.between(-1.0, 1.0, *shape, 2)
        x, y = vector[..., 0], vector[..., 1]
        return vector / np.sqrt(x * x + y * y)[..., None]


PIXEL = 1 / 64
"""The unit of the lengths below: a pixel of a 64 x 64 image."""
BORDER = 0.12
"""How far outside the image the centre of a nucleus may lie."""
MAX_TUMOUR, MAX_LYMPHOCYTES, MAX_SPINDLES = 40, 22, 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Nuclei:
    """Nuclei of one or more images: all fields share the same leading axes, initially images x slots."""

    present: Array
    """1 where there is a nucleus, 0 where its slot stays empty."""
    centre: Array
    """x and y."""
    radius: Array
    stretch: Array
    """The long half-axis divided by the radius; the short half-axis is the radius divided by it."""
    axis: Array
    """Unit vector along the long axis."""
    outline: Array
    """Cosine and sine coefficients of harmonics 2 to 5 of the outline, in radii (4 x 2)."""
    density: Array
    """Amount of haematoxylin."""
    hollow: Array
    """How much paler its middle is than its rim, from 0 to 1."""
    nucleolus: Array
    """How dark the nucleolus is."""

    def take(self, chosen: Indices | npt.NDArray[np.bool_]) -> "Nuclei":
        """Returns the nuclei at these positions of the leading axes."""
        return Nuclei(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})


def nuclei_of(seed: int, ids: Indices, patients: Indices, severity: Array) -> Nuclei:
    """Returns all nuclei of images with a severity from 0 to 1 (images x slots)."""
    each = (tumour_cells(seed, ids, patients, severity), lymphocytes(seed, ids), spindle_cells(seed, ids))
    return Nuclei(
        **{f.name: np.concatenate([getattr(cells, f.name) for cells in each], axis=1) for f in fields(Nuclei)}
    )


def tumour_cells(seed: int, ids: Indices, patients: Indices, severity: Array) -> Nuclei:
    """The graded cells: with severity they increase in number, size, variety, irregularity and crowding."""
    # Every trait follows the severity with its own error, so that no single trait gives the grade away.
    traits = Chance(seed, Use.TRAITS, ids)
    number, size, variety, irregularity, crowding, darkness = (
        np.maximum(severity + traits.around_zero(width), 0)[:, None] for width in (0.3, 0.3, 0.4, 0.4, 0.5, 0.5)
    )
    habit = Chance(seed, Use.PATIENT_NUCLEI, patients)
    number, size = number + habit.between(-0.08, 0.08, 1), size + habit.between(-0.1, 0.1, 1)

    chance = Chance(seed, Use.TUMOUR, ids)
    spread = chance.around_zero(1.0, MAX_TUMOUR) * (0.12 + 0.38 * variety)
    unevenness = (0.02 + 0.15 * irregularity)[..., None, None] * _FADING
    return Nuclei(
        present=_first(9 + 22 * number, MAX_TUMOUR),
        centre=_crowded(_evenly_spread(chance, MAX_TUMOUR), chance.between(0.0, 1.0, 3, 2), 0.04 + 0.36 * crowding),
        radius=PIXEL * np.minimum((2.5 + 1.7 * size) * (1 + spread), 6.5),
        stretch=1.06 + chance.between(0.0, 1.0, MAX_TUMOUR) * (0.1 + 0.12 * irregularity),
        axis=chance.direction(MAX_TUMOUR),
        outline=unevenness * chance.around_zero(1.0, MAX_TUMOUR, 4, 2),
        density=0.76 + 0.2 * darkness + chance.around_zero(0.12, MAX_TUMOUR),
        hollow=chance.between(0.1, 0.5, MAX_TUMOUR),
        nucleolus=np.maximum(variety - 0.3 + chance.around_zero(0.3, MAX_TUMOUR), 0),
    )


def lymphocytes(seed: int, ids: Indices) -> Nuclei:
    """Small, round, dark cells: inflammation is independent of the grade and resembles crowding at low detail."""
    chance = Chance(seed, Use.LYMPHOCYTES, ids)
    inflammation = chance.between(0.0, 1.0, 1) ** 2
    return Nuclei(
        present=_first(MAX_LYMPHOCYTES * inflammation, MAX_LYMPHOCYTES),
        centre=_crowded(_evenly_spread(chance, MAX_LYMPHOCYTES), chance.between(0.0, 1.0, 1, 2), 0.6 * inflammation),
        radius=PIXEL * (1.9 + chance.around_zero(0.25, MAX_LYMPHOCYTES)),
        stretch=chance.between(1.0, 1.1, MAX_LYMPHOCYTES),
        axis=chance.direction(MAX_LYMPHOCYTES),
        outline=0.04 * chance.around_zero(1.0, MAX_LYMPHOCYTES, 4, 2),
        density=chance.between(1.0, 1.2, MAX_LYMPHOCYTES),
        hollow=np.zeros((len(ids), MAX_LYMPHOCYTES)),
        nucleolus=np.zeros((len(ids), MAX_LYMPHOCYTES)),
    )


def spindle_cells(seed: int, ids: Indices) -> Nuclei:
    """The long thin cells of the stroma, which lie along its fibres."""
    chance = Chance(seed, Use.SPINDLES, ids)
    axis = fibre_direction(seed, ids)[:, None] + chance.around_zero(0.2, MAX_SPINDLES, 2)
    return Nuclei(
        present=_first(chance.between(0.0, float(MAX_SPINDLES), 1), MAX_SPINDLES),
        centre=_evenly_spread(chance, MAX_SPINDLES),
        radius=PIXEL * (1.9 + chance.around_zero(0.4, MAX_SPINDLES)),
        stretch=chance.between(1.6, 2.2, MAX_SPINDLES),
        axis=axis / np.sqrt(axis[..., 0] ** 2 + axis[..., 1] ** 2)[..., None],
        outline=0.04 * chance.around_zero(1.0, MAX_SPINDLES, 4, 2),
        density=chance.between(0.65, 0.9, MAX_SPINDLES),
        hollow=np.zeros((len(ids), MAX_SPINDLES)),
        nucleolus=np.zeros((len(ids), MAX_SPINDLES)),
    )


def fibre_direction(seed: int, ids: Indices) -> Array:
    """Direction of the stroma fibres in each image (images x 2)."""
    return Chance(seed, Use.FIBRES, ids).direction()


_FADING = np.array([0.7, 1.0, 0.75, 0.5])[:, None]
"""Strength of the harmonics of an outline: at equal strength, the high ones would make nuclei look torn, not uneven."""
_EVEN_STEPS = np.array([0.7548776662466927, 0.5698402909980532])
"""Multiples of these (inverse powers of the plastic number), modulo 1, fill the unit square evenly for any count."""


def _first(number: Array, slots: int) -> Array:
    """1 in the first `number` slots of each image."""
    return (np.arange(slots) < np.floor(number)).astype(np.float64)


def _evenly_spread(chance: Chance, slots: int) -> Array:
    """Points spread over the image and a little beyond its border (images x slots x 2)."""
    steps = np.arange(slots)[:, None] * _EVEN_STEPS + chance.between(0.0, 1.0, 1, 2)
    jitter = 0.07
    inner = BORDER - jitter
    points: Array = (1 + 2 * inner) * (steps - np.floor(steps)) - inner
    # Without mirroring, the rows of points would lean the same way in all images.
    mirrored = chance.between(0.0, 1.0, 1, 1) < 0.5
    points = np.where(mirrored, points[..., ::-1], points)
    return points + chance.between(-jitter, jitter, slots, 2)


def _crowded(points: Array, centres: Array, pull: Array) -> Array:
    """Moves the points by the fraction `pull` of the way to the nearest centre."""
    way = centres[:, None] - points[:, :, None]
    nearest = (way * way).sum(axis=-1).argmin(axis=-1)[..., None, None]
    return points + pull[..., None] * np.take_along_axis(way, nearest, axis=2)[:, :, 0]


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
    """Draws the images with these numbers: uint8, images x size x size x 3."""
    pixels = np.empty((len(ids), size, size, 3), dtype=np.uint8)
    step = max(1, PIXELS_AT_ONCE // size**2)
    for first in range(0, len(ids), step):
        part = slice(first, first + step)
        pixels[part] = _draw_few(seed, ids[part], patients[part], severity[part], size)
    return pixels


def _draw_few(seed: int, ids: Indices, patients: Indices, severity: Array, size: int) -> npt.NDArray[np.uint8]:
    """Draws a batch of images: where each stain is, its strength, and the light that passes through."""
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
    num_images = len(blur)
    present = nuclei.present > 0
    every, image = nuclei.take(present), np.nonzero(present)[0]
    furthest = 1 + np.sqrt((every.outline**2).sum(axis=-1)).sum(axis=-1)
    reach = every.stretch * (every.radius * furthest + CYTOPLASM)
    reach = 4 * np.ceil(reach * size / 4).astype(np.int64)  # in pixels; rounded up to a few patch sizes
    # With a margin around the canvas, a nucleus on the border needs no special case.
    margin = int(reach.max(initial=0)) + int(np.ceil(BORDER * size)) + 1
    width = size + 2 * margin
    canvas = np.zeros((2, num_images * width * width))
    for r in np.unique(reach):
        of_this_reach = np.nonzero(reach == r)[0]
        group, home = every.take(of_this_reach), image[of_this_reach]
        offsets = np.arange(-r, r + 1)
        corner = np.floor(group.centre * size).astype(np.int64)
        column, row = corner[:, 0, None] + offsets, corner[:, 1, None] + offsets
        dx = _plane((column + 0.5) / size - group.centre[:, 0, None])[:, None, :]
        dy = _plane((row + 0.5) / size - group.centre[:, 1, None])[:, :, None]
        pixel = (home[:, None, None] * width + (row + margin)[:, :, None]) * width + (column + margin)[:, None, :]
        softness = np.maximum(blur[home], 0.7 / size)  # an edge sharper than a pixel would look jagged
        for layer, values in zip(canvas, paint_patches(group, dx, dy, softness=_each(softness)), strict=True):
            layer += np.bincount(pixel.ravel(), weights=values.ravel(), minlength=layer.size)
    inner = slice(margin, margin + size)
    purple, body = _plane(canvas.reshape(2, num_images, width, width)[:, :, inner, inner])
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
    """Returns the light that passes through an optical density (Beer-Lambert law), 255 for all of it."""
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
