from dataclasses import replace

import numpy as np
import pytest

from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError
from onepeak.training.table_encoder import TableEncoder

NAN = float("nan")
TRAIN = FeatureRows(
    columns=("age", "colour", "same", "dose"),
    values=np.array([[1, 0, 5, 10], [3, 2, 5, NAN], [1, 0, 5, 30], [3, NAN, 5, 20]]),
    categories={"colour": ("red", "green", "blue")},
)


def test_a_table_by_hand():
    encoder = TableEncoder.learn(TRAIN)
    assert encoder.num_features == 7
    assert encoder.means == (2.0, 0.0, 5.0, 20.0)
    assert encoder.stds == pytest.approx((1.0, 1.0, 1.0, np.sqrt(200 / 3)))
    assert encoder.missing == ("dose",)
    step = 10 / np.sqrt(200 / 3)
    expected = [
        # age, red, green, blue, same, dose, dose missing
        [-1, 1, 0, 0, 0, -step, 0],
        [1, 0, 0, 1, 0, 0, 1],
        [-1, 1, 0, 0, 0, step, 0],
        [1, 0, 0, 0, 0, 0, 0],  # no colour is none of the colours
    ]
    found = encoder.encode(TRAIN)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_numbers_are_far_outside_beyond_a_width_of_the_range_that_was_trained_on():
    encoder = TableEncoder.learn(TRAIN)
    assert (encoder.lowest, encoder.highest) == ((1, 0, 5, 10), (3, 0, 5, 30))
    values = [[5, 9, 5, 50], [5.1, 0, 5.1, 51], [-1, NAN, NAN, -10], [-1.1, 2, 4.9, -11]]
    found = encoder.far_outside(replace(TRAIN, values=np.array(values)))
    inside, outside = [False] * 4, [True, False, True, True]  # names are neither
    assert found.tolist() == [inside, outside, inside, outside]
    older = replace(encoder, lowest=(), highest=())
    assert not older.far_outside(replace(TRAIN, values=np.array(values))).any()


def test_nothing_is_far_from_the_same_number_or_from_none():
    values = np.array([[0.1 + 0.2, NAN, 0], [0.1 + 0.2, NAN, NAN]])
    encoder = TableEncoder.learn(FeatureRows(columns=("same", "none", "zero"), values=values))
    asked = FeatureRows(columns=encoder.columns, values=np.array([[0.3, 5, 0], [0.31, -5, 1]]))
    assert encoder.far_outside(asked).tolist() == [[False] * 3, [True, False, True]]


def test_other_rows_are_read_with_what_the_training_rows_taught():
    encoder = TableEncoder.learn(TRAIN)
    other = replace(TRAIN, values=np.array([[4, 1, 7, NAN], [NAN, 1, 5, 20]]))
    np.testing.assert_allclose(
        encoder.encode(other),
        # a column that did not vary keeps its unit; age was never missing in training, so its mean must do
        [[2, 0, 1, 0, 2, 0, 1], [0, 0, 1, 0, 0, 0, 0]],
    )


@pytest.mark.parametrize("number", [0.1, 1 / 3, 1e-9, 12345.678])
def test_a_number_that_never_varies_has_no_deviation_though_rounding_gives_it_one(number):
    encoder = TableEncoder.learn(FeatureRows(columns=("dose",), values=np.full((100, 1), number)))
    assert encoder.stds == (1.0,)
    asked = FeatureRows(columns=("dose",), values=np.array([[number], [number + 1]]))
    np.testing.assert_allclose(encoder.encode(asked), [[0], [1]], atol=1e-6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1e-200, 3e-180, 2e-190], [[0], [0], [0]]),  # squares are zero
        ([1.7e9, 1.7e9 + 8, 1.7e9 + 16], [[-1.2247449], [0], [1.2247449]]),  # far from zero
        ([NAN, NAN], [[0, 1], [0, 1]]),
    ],
)
def test_tiny_numbers_stay_finite_large_ones_keep_their_spread_and_missing_ones_teach_nothing(values, expected):
    rows = FeatureRows(columns=("p",), values=np.array(values)[:, None])
    np.testing.assert_allclose(TableEncoder.learn(rows).encode(rows), expected, rtol=1e-5, atol=1e-12)


@pytest.mark.bad_input
def test_other_columns_are_refused_by_name():
    rows = FeatureRows(columns=("age", "weight"), values=np.zeros((1, 2)))
    with pytest.raises(InputError, match="`rows` must have the columns age, colour, same, dose, got age, weight"):
        TableEncoder.learn(TRAIN).encode(rows)
