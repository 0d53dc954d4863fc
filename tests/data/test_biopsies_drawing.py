import numpy as np
import pytest

from onepeak.data.biopsies_drawing import PIXELS_AT_ONCE, draw, light_through, paint_nuclei
from onepeak.data.biopsies_nuclei import Nuclei


def one_nucleus(x=0.5, y=0.5, *, radius=0.1, stretch=1.0, axis=(1.0, 0.0), outline=None, hollow=0.0):
    """One picture with one nucleus of density 1."""
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


def test_a_stretched_nucleus_keeps_its_area_and_lies_along_its_axis():
    purple, _ = painted(one_nucleus(stretch=1.5, axis=(0.6, 0.8)))
    assert purple.mean() == pytest.approx(np.pi * 0.1**2, rel=0.02)
    row, column = np.nonzero(purple > 0.5)
    _, vectors = np.linalg.eigh(np.cov(column, row))
    assert abs(vectors[:, -1] @ [0.6, 0.8]) > 0.999
    along, across = (column - 99.5) * 0.6 + (row - 99.5) * 0.8, (row - 99.5) * 0.6 - (column - 99.5) * 0.8
    assert np.ptp(along) / np.ptp(across) == pytest.approx(1.5**2, rel=0.05)


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


def test_a_hollow_nucleus_is_paler_inside_than_at_its_rim():
    purple, _ = painted(one_nucleus(0.5025, 0.5025, hollow=0.5))
    profile = purple[100, 100:]
    assert profile[0] == pytest.approx(0.5, abs=0.01)
    assert profile.max() > 0.9


def test_the_body_reaches_beyond_the_nucleus():
    purple, body = painted(one_nucleus())
    assert (body > 0)[purple > 0.5].all()
    assert (body > 0).sum() > 1.5 * (purple > 0).sum()


def test_a_picture_without_nuclei_is_drawn():
    nucleus = one_nucleus()
    empty = Nuclei(**{**vars(nucleus), "present": np.zeros((1, 1))})
    purple, body = paint_nuclei(empty, blur=np.array([0.005]), size=32)
    assert purple.shape == body.shape == (1, 32, 32)
    assert purple.max() == body.max() == 0


def test_the_light_falls_exponentially_with_the_density():
    density = np.linspace(0, 6, 5000, dtype=np.float32)
    np.testing.assert_allclose(light_through(density), 255 * np.exp(-density), atol=0.8)
    assert light_through(np.array([-1.0, 1e6], dtype=np.float32)).tolist() == [255, 0]


def test_a_picture_does_not_depend_on_those_drawn_with_it():
    num = PIXELS_AT_ONCE // 32**2 + 3  # more than are drawn at once
    ids, severity = np.arange(num), np.linspace(0, 1, num)
    all_at_once = draw(5, ids, ids // 4, severity, size=32)
    chosen = np.array([num - 1, 0, 17])
    np.testing.assert_array_equal(draw(5, chosen, chosen // 4, severity[chosen], size=32), all_at_once[chosen])
