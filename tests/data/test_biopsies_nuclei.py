import numpy as np
import pytest

from onepeak.data.biopsies_chance import Chance, Use
from onepeak.data.biopsies_nuclei import (
    BORDER,
    MAX_LYMPHOCYTES,
    MAX_SPINDLES,
    MAX_TUMOUR,
    PIXEL,
    fibre_direction,
    lymphocytes,
    nuclei_of,
    spindle_cells,
    tumour_cells,
)

IDS = np.arange(300)


def tumour_at(severity):
    return tumour_cells(0, IDS, IDS, np.full(len(IDS), severity))


def mean_over_cells(nuclei, values):
    return (values * nuclei.present).sum() / nuclei.present.sum()


def irregularity(nuclei):
    return mean_over_cells(nuclei, np.abs(nuclei.outline).sum(axis=(-1, -2)))


def crowding(nuclei):
    """How near the nearest neighbour is, as a share of what an even spread would have."""
    shares = []
    for centre, present in zip(nuclei.centre, nuclei.present > 0, strict=True):
        points = centre[present]
        apart = np.hypot(*(points[:, None] - points).transpose(2, 0, 1)) + 9 * np.eye(len(points))
        shares.append(apart.min(axis=1).mean() * np.sqrt(len(points)))
    return -np.mean(shares)


TRAITS = {
    "number": lambda nuclei: nuclei.present.sum(axis=1).mean(),
    "size": lambda nuclei: mean_over_cells(nuclei, nuclei.radius),
    "variety": lambda nuclei: (nuclei.radius.std(axis=1) / nuclei.radius.mean(axis=1)).mean(),
    "irregularity": irregularity,
    "crowding": crowding,
}


@pytest.mark.parametrize("trait", TRAITS)
def test_each_trait_grows_from_every_grade_to_the_next(trait):
    values = [TRAITS[trait](tumour_at(severity)) for severity in (np.arange(8) + 0.5) / 8]
    assert (np.diff(values) > 0).all()


def test_no_trait_alone_separates_neighbouring_grades():
    for one_picture in (lambda n: n.present.sum(axis=1), lambda n: n.radius.mean(axis=1)):
        milder, worse = one_picture(tumour_at(4.5 / 8)), one_picture(tumour_at(5.5 / 8))
        right = (worse[:, None] > milder).mean()  # a guess would be right half of the time
        assert 0.55 < right < 0.9


def test_only_the_tumour_knows_of_the_severity():
    mild, severe = (nuclei_of(0, IDS, IDS, np.full(len(IDS), severity)) for severity in (0.1, 0.9))
    assert mild.present.shape == (len(IDS), MAX_TUMOUR + MAX_LYMPHOCYTES + MAX_SPINDLES)
    for field in ("present", "centre", "radius", "outline", "density"):
        a, b = getattr(mild, field), getattr(severe, field)
        np.testing.assert_array_equal(a[:, MAX_TUMOUR:], b[:, MAX_TUMOUR:])
        assert not np.array_equal(a[:, :MAX_TUMOUR], b[:, :MAX_TUMOUR])


@pytest.mark.parametrize("severity", [0.0, 1.0])
def test_centres_and_sizes_stay_within_what_the_canvas_allows(severity):
    nuclei = nuclei_of(0, IDS, IDS, np.full(len(IDS), severity))
    assert -BORDER <= nuclei.centre.min() < nuclei.centre.max() <= 1 + BORDER
    assert 1 * PIXEL < nuclei.radius.min() < nuclei.radius.max() <= 6.5 * PIXEL
    assert nuclei.density.min() > 0
    assert (nuclei.present.sum(axis=1) > 0).all()
    assert (nuclei.present[:, :MAX_TUMOUR].sum(axis=1) < MAX_TUMOUR).all()  # the places do not run out


def test_inflammation_comes_and_goes():
    counts = lymphocytes(0, IDS).present.sum(axis=1)
    assert (counts == 0).mean() > 0.1
    assert (counts > MAX_LYMPHOCYTES / 2).mean() > 0.1


def test_spindle_cells_lie_along_the_fibres():
    cells = spindle_cells(0, IDS)
    np.testing.assert_allclose(np.hypot(cells.axis[..., 0], cells.axis[..., 1]), 1, rtol=1e-12)
    assert (cells.axis * fibre_direction(0, IDS)[:, None]).sum(axis=-1).min() > 0.9
    np.testing.assert_array_equal(fibre_direction(0, IDS), Chance(0, Use.FIBRES, IDS).direction())


def test_the_list_holds_those_present_with_their_picture():
    nuclei = tumour_at(0.5)
    listed, picture = nuclei.in_list()
    assert len(listed.radius) == len(picture) == nuclei.present.sum()
    np.testing.assert_array_equal(np.bincount(picture), nuclei.present.sum(axis=1))
    np.testing.assert_array_equal(listed.radius[picture == 7], nuclei.radius[7][nuclei.present[7] > 0])
