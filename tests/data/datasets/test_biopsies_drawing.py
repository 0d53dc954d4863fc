import numpy as np
import pytest
from scipy import stats

from onepeak.data.datasets.biopsies_drawing import (
    MAX_LYMPHOCYTES,
    MAX_SPINDLES,
    MAX_TUMOUR,
    PIXELS_AT_ONCE,
    Chance,
    Nuclei,
    Use,
    draw,
    light_through,
    nuclei_of,
    paint_nuclei,
    tumour_cells,
)


def one_nucleus(x=0.5, y=0.5, *, radius=0.1, stretch=1.0, axis=(1.0, 0.0), outline=None, hollow=0.0):
    """One image with one nucleus of density 1."""
    return Nuclei(
        present=np.ones((1, 1)),
        centre=np.array([[[x, y]]]),
        radius=np.array([[radius]]),
        stretch=np.array([[stretch]]),
        axis=np.array([[axis]]),
        outline=np.zeros((1, 1, 4, 2)) if outline is None else outline,
        density=np.ones((1, 1)),
        hollow=np.array([[hollow]]),
        nucleolus=np.zeros((1, 1)),
    )


def painted(nucleus, size=200):
    purple, body = paint_nuclei(nucleus, blur=np.array([0.005]), size=size)
    return purple[0], body[0]


def test_a_round_nucleus_has_the_area_of_its_circle():
    purple, _ = painted(one_nucleus(0.43, 0.61))
    assert purple.max() == 1
    assert purple.mean() == pytest.approx(np.pi * 0.1**2, rel=0.01)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_a_harmonic_gives_the_outline_as_many_lobes(k):
    outline = np.zeros((1, 1, 4, 2))
    outline[0, 0, k - 2] = [0.0, 0.2]
    purple, _ = painted(one_nucleus(outline=outline))
    y, x = (np.mgrid[:200, :200] + 0.5) / 200 - 0.5
    inside = np.hypot(x, y) < 0.1 * (1 + 0.2 * np.sin(k * np.arctan2(y, x)))  # the outline by its definition
    assert np.mean((purple > 0.5) != inside) < 5e-4


def test_a_nucleus_over_the_border_is_the_same_one_cut():
    inner, _ = painted(one_nucleus(0.5, 0.5))
    cut, _ = painted(one_nucleus(0.0, 1.0))
    np.testing.assert_allclose(cut[100:, :100], inner[:100, 100:], atol=1e-4)
    assert cut[:90].max() == 0


def test_a_image_without_nuclei_is_drawn():
    nucleus = one_nucleus()
    empty = Nuclei(**{**vars(nucleus), "present": np.zeros((1, 1))})
    purple, body = paint_nuclei(empty, blur=np.array([0.005]), size=32)
    assert purple.shape == body.shape == (1, 32, 32)
    assert purple.max() == body.max() == 0


def test_the_light_falls_exponentially_with_the_density():
    density = np.linspace(0, 6, 5000, dtype=np.float32)
    np.testing.assert_allclose(light_through(density), 255 * np.exp(-density), atol=0.8)
    assert light_through(np.array([-1.0, 1e6], dtype=np.float32)).tolist() == [255, 0]


def test_a_image_does_not_depend_on_those_drawn_with_it():
    num = PIXELS_AT_ONCE // 32**2 + 3  # more than are drawn at once
    ids, severity = np.arange(num), np.linspace(0, 1, num)
    all_at_once = draw(5, ids, ids // 4, severity, size=32)
    chosen = np.array([num - 1, 0, 17])
    np.testing.assert_array_equal(draw(5, chosen, chosen // 4, severity[chosen], size=32), all_at_once[chosen])


IDS = np.arange(300)


def tumour_at(severity):
    return tumour_cells(0, IDS, IDS, np.full(len(IDS), severity))


def mean_over_cells(nuclei, values):
    return (values * nuclei.present).sum() / nuclei.present.sum()


def irregularity(nuclei):
    return mean_over_cells(nuclei, np.abs(nuclei.outline).sum(axis=(-1, -2)))


TRAITS = {
    "number": lambda nuclei: nuclei.present.sum(axis=1).mean(),
    "size": lambda nuclei: mean_over_cells(nuclei, nuclei.radius),
    "variety": lambda nuclei: (nuclei.radius.std(axis=1) / nuclei.radius.mean(axis=1)).mean(),
    "irregularity": irregularity,
}


@pytest.mark.parametrize("trait", TRAITS)
def test_each_trait_grows_from_every_grade_to_the_next(trait):
    values = [TRAITS[trait](tumour_at(severity)) for severity in (np.arange(8) + 0.5) / 8]
    assert (np.diff(values) > 0).all()


def test_no_trait_alone_separates_neighbouring_grades():
    for one_image in (lambda n: n.present.sum(axis=1), lambda n: n.radius.mean(axis=1)):
        milder, worse = one_image(tumour_at(4.5 / 8)), one_image(tumour_at(5.5 / 8))
        right = (worse[:, None] > milder).mean()  # a guess would be right half of the time
        assert 0.55 < right < 0.9


def test_only_the_tumour_knows_of_the_severity():
    mild, severe = (nuclei_of(0, IDS, IDS, np.full(len(IDS), severity)) for severity in (0.1, 0.9))
    assert mild.present.shape == (len(IDS), MAX_TUMOUR + MAX_LYMPHOCYTES + MAX_SPINDLES)
    for field in ("present", "centre", "radius", "outline", "density"):
        a, b = getattr(mild, field), getattr(severe, field)
        np.testing.assert_array_equal(a[:, MAX_TUMOUR:], b[:, MAX_TUMOUR:])
        assert not np.array_equal(a[:, :MAX_TUMOUR], b[:, :MAX_TUMOUR])


IDS_BIOPSIES_CHANCE = np.arange(500)


def test_the_numbers_are_uniform_and_strictly_within_the_interval():
    numbers = Chance(0, Use.TISSUE, IDS_BIOPSIES_CHANCE).between(-2.0, 3.0, 4, 5)
    assert numbers.shape == (500, 4, 5)
    assert -2 < numbers.min() < numbers.max() < 3
    assert stats.kstest((numbers.ravel() + 2) / 5, "uniform").pvalue > 0.01


@pytest.mark.parametrize(("seed", "use"), [(1, Use.TISSUE), (0, Use.NOISE)])
def test_another_seed_or_use_gives_unrelated_numbers(seed, use):
    one = Chance(0, Use.TISSUE, IDS_BIOPSIES_CHANCE).between(0.0, 1.0, 20)
    other = Chance(seed, use, IDS_BIOPSIES_CHANCE).between(0.0, 1.0, 20)
    for first, second in ((one, other), (one[1:], one[:-1])):  # neighbouring ids too
        assert abs(stats.pearsonr(first.ravel(), second.ravel()).statistic) < 4 / np.sqrt(first.size)
