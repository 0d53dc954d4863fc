"""The nuclei of a generated biopsy: the only part of it that depends on the severity.

Lengths are fractions of the image's side, so the tissue does not depend on the size at which it is drawn.
"""

from dataclasses import dataclass, fields

import numpy as np

from onepeak.data.biopsies_chance import Array, Chance, Indices, Use

PIXEL = 1 / 64
"""The unit of the lengths below: a pixel of a 64 x 64 image."""
BORDER = 0.12
"""How far outside the image the centre of a nucleus may lie."""
MAX_TUMOUR, MAX_LYMPHOCYTES, MAX_SPINDLES = 40, 22, 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Nuclei:
    """Nuclei of one or more images: all fields share the same leading axes, initially images x places."""

    present: Array
    """1 where there is a nucleus, 0 where its place stays empty."""
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

    def beside(self, other: "Nuclei") -> "Nuclei":
        """Returns the nuclei of both, image by image."""
        return Nuclei(
            **{f.name: np.concatenate([getattr(self, f.name), getattr(other, f.name)], axis=1) for f in fields(self)}
        )

    def in_list(self) -> tuple["Nuclei", Indices]:
        """Returns the nuclei that are present, as one flat list, and the image of each."""
        found = self.present > 0
        return Nuclei(**{f.name: getattr(self, f.name)[found] for f in fields(self)}), np.nonzero(found)[0]

    def take(self, chosen: Indices) -> "Nuclei":
        """Returns the nuclei at these positions of the leading axis."""
        return Nuclei(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})


def nuclei_of(seed: int, ids: Indices, patients: Indices, severity: Array) -> Nuclei:
    """Returns all nuclei of these images (images x places).

    Args:
        seed: Seed of the data set.
        ids: The number of each image.
        patients: The number of each image's patient.
        severity: One per image, from 0 to 1.
    """
    tumour = tumour_cells(seed, ids, patients, severity)
    return tumour.beside(lymphocytes(seed, ids)).beside(spindle_cells(seed, ids))


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


def _first(number: Array, places: int) -> Array:
    """1 in the first `number` places of each image."""
    return (np.arange(places) < np.floor(number)).astype(np.float64)


def _evenly_spread(chance: Chance, places: int) -> Array:
    """Points spread over the image and a little beyond its border (images x places x 2)."""
    steps = np.arange(places)[:, None] * _EVEN_STEPS + chance.between(0.0, 1.0, 1, 2)
    jitter = 0.07
    inner = BORDER - jitter
    points: Array = (1 + 2 * inner) * (steps - np.floor(steps)) - inner
    mirrored = (
        chance.between(0.0, 1.0, 1, 1) < 0.5
    )  # otherwise the rows of points would lean the same way in all images
    points = np.where(mirrored, points[..., ::-1], points)
    return points + chance.between(-jitter, jitter, places, 2)


def _crowded(points: Array, centres: Array, pull: Array) -> Array:
    """Moves the points by the fraction `pull` of the way to the nearest centre."""
    way = centres[:, None] - points[:, :, None]
    nearest = (way * way).sum(axis=-1).argmin(axis=-1)[..., None, None]
    return points + pull[..., None] * np.take_along_axis(way, nearest, axis=2)[:, :, 0]
