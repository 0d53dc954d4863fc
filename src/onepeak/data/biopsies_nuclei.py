"""Which nuclei lie in a generated biopsy: the one thing in it that the severity decides.

Lengths are shares of the picture's side, so the tissue does not depend on the size at which it is drawn.
"""

from dataclasses import dataclass, fields

import numpy as np

from onepeak.data.biopsies_chance import Array, Chance, Indices, Use

PIXEL = 1 / 64
"""The unit in which the lengths below are thought of: a pixel of a 64 x 64 picture."""
BORDER = 0.12
"""How far outside of the picture a nucleus may have its centre."""
MAX_TUMOUR, MAX_LYMPHOCYTES, MAX_SPINDLES = 40, 22, 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Nuclei:
    """Nuclei of one or more pictures: every field has the same leading axes, at first pictures x places."""

    present: Array
    """1 where there is a nucleus, 0 where its place stays empty."""
    centre: Array
    """x and y."""
    radius: Array
    stretch: Array
    """How many times the radius the long half-axis is; the short one is as many times less."""
    axis: Array
    """The unit vector of the long axis."""
    outline: Array
    """Cosine and sine of the harmonics 2 to 5 of the outline, in radii (4 x 2)."""
    density: Array
    """Haematoxylin it holds."""
    hollow: Array
    """How much paler its middle is than its rim, from 0 to 1."""
    nucleolus: Array
    """How dark the body inside it is."""

    def beside(self, other: "Nuclei") -> "Nuclei":
        """The nuclei of both, picture by picture."""
        return Nuclei(
            **{f.name: np.concatenate([getattr(self, f.name), getattr(other, f.name)], axis=1) for f in fields(self)}
        )

    def in_list(self) -> tuple["Nuclei", Indices]:
        """Those present, in one list, and the picture each lies in."""
        found = self.present > 0
        return Nuclei(**{f.name: getattr(self, f.name)[found] for f in fields(self)}), np.nonzero(found)[0]

    def take(self, chosen: Indices) -> "Nuclei":
        """The nuclei at these positions of the leading axis."""
        return Nuclei(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})


def nuclei_of(seed: int, ids: Indices, patients: Indices, severity: Array) -> Nuclei:
    """All nuclei of these pictures (pictures x places).

    Args:
        seed: Seed of the data set.
        ids: The number of each picture.
        patients: The number of each picture's patient.
        severity: From 0 to 1, one per picture.
    """
    tumour = tumour_cells(seed, ids, patients, severity)
    return tumour.beside(lymphocytes(seed, ids)).beside(spindle_cells(seed, ids))


def tumour_cells(seed: int, ids: Indices, patients: Indices, severity: Array) -> Nuclei:
    """The cells that are graded: with the severity they grow in number, size, variety, irregularity and crowding."""
    # Every trait follows the severity with an error of its own, so that no single one of them gives the grade away.
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
    """Small, round and dark: inflammation comes and goes whatever the grade, and looks like crowding from afar."""
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
    """Which way the fibres of each picture's stroma run (pictures x 2)."""
    return Chance(seed, Use.FIBRES, ids).direction()


_FADING = np.array([0.7, 1.0, 0.75, 0.5])[:, None]
"""The strength of the harmonics of an outline: as strong as the others, the high ones would look torn, not uneven."""
_EVEN_STEPS = np.array([0.7548776662466927, 0.5698402909980532])
"""Multiples of these (inverse powers of the plastic number) fill the unit square evenly, however many are taken."""


def _first(number: Array, places: int) -> Array:
    """1 in the first `number` places of each picture."""
    return (np.arange(places) < np.floor(number)).astype(np.float64)


def _evenly_spread(chance: Chance, places: int) -> Array:
    """Points spread over the picture and a little beyond its border (pictures x places x 2)."""
    steps = np.arange(places)[:, None] * _EVEN_STEPS + chance.between(0.0, 1.0, 1, 2)
    jitter = 0.07
    inner = BORDER - jitter
    points: Array = (1 + 2 * inner) * (steps - np.floor(steps)) - inner
    mirrored = chance.between(0.0, 1.0, 1, 1) < 0.5  # or the rows of points would lean the same way in all pictures
    points = np.where(mirrored, points[..., ::-1], points)
    return points + chance.between(-jitter, jitter, places, 2)


def _crowded(points: Array, centres: Array, pull: Array) -> Array:
    """The points, moved a share `pull` of the way to the nearest of the centres."""
    way = centres[:, None] - points[:, :, None]
    nearest = (way * way).sum(axis=-1).argmin(axis=-1)[..., None, None]
    return points + pull[..., None] * np.take_along_axis(way, nearest, axis=2)[:, :, 0]
