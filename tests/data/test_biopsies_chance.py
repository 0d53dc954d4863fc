import numpy as np
import pytest
from scipy import stats

from onepeak.data.biopsies_chance import Chance, Use

IDS = np.arange(500)


def test_the_numbers_are_uniform_and_strictly_within_the_interval():
    numbers = Chance(0, Use.TISSUE, IDS).between(-2.0, 3.0, 4, 5)
    assert numbers.shape == (500, 4, 5)
    assert -2 < numbers.min() < numbers.max() < 3
    assert stats.kstest((numbers.ravel() + 2) / 5, "uniform").pvalue > 0.01


def test_an_id_that_comes_twice_gets_the_same_numbers():
    numbers = Chance(0, Use.PATIENT_STAIN, np.array([4, 9, 4])).between(0.0, 1.0, 6)
    np.testing.assert_array_equal(numbers[0], numbers[2])
    assert not np.isin(numbers[1], numbers[0]).any()


@pytest.mark.parametrize(("seed", "use"), [(1, Use.TISSUE), (0, Use.NOISE)])
def test_another_seed_or_use_gives_unrelated_numbers(seed, use):
    one = Chance(0, Use.TISSUE, IDS).between(0.0, 1.0, 20)
    other = Chance(seed, use, IDS).between(0.0, 1.0, 20)
    assert abs(stats.pearsonr(one.ravel(), other.ravel()).statistic) < 4 / np.sqrt(one.size)


def test_neighbouring_ids_get_unrelated_numbers():
    numbers = Chance(0, Use.LABEL, IDS).between(0.0, 1.0, 20)
    assert abs(stats.pearsonr(numbers[1:].ravel(), numbers[:-1].ravel()).statistic) < 4 / np.sqrt(numbers.size)


def test_a_second_call_goes_on_in_the_stream():
    chance = Chance(0, Use.LABEL, np.array([3]))
    in_two = np.concatenate([chance.between(0.0, 1.0, 2), chance.between(0.0, 1.0, 3)], axis=1)
    np.testing.assert_array_equal(in_two, Chance(0, Use.LABEL, np.array([3])).between(0.0, 1.0, 5))


def test_numbers_around_zero_are_triangular():
    numbers = Chance(0, Use.TRAITS, IDS).around_zero(0.5, 10)
    assert numbers.shape == (500, 10)
    assert stats.kstest(numbers.ravel(), stats.triang(0.5, loc=-0.5, scale=1).cdf).pvalue > 0.01


def test_directions_have_length_one_and_go_everywhere():
    vectors = Chance(0, Use.FIBRES, IDS).direction()
    np.testing.assert_allclose(np.hypot(*vectors.T), 1, rtol=1e-12)
    assert np.abs(vectors.mean(axis=0)).max() < 0.15
