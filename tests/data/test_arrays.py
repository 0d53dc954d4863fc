import numpy as np
import pandas as pd
import pytest
import torch

from onepeak.data.arrays import from_arrays
from onepeak.data.manifest import FeatureRows, ImageArrays
from onepeak.errors import InputError


def test_features_are_numbered_columns_of_float64():
    data = from_arrays(np.array([[1, 2], [3, 1_700_000_001]]), [0, 1])
    assert isinstance(data.items, FeatureRows)
    assert data.items.columns == ("x1", "x2")
    assert data.items.values[1, 1] == 1_700_000_001  # float32 has no such number


@pytest.mark.parametrize("shape", [(2, 4, 5), (2, 4, 5, 1), (2, 4, 5, 3), (2, 1, 4, 5), (2, 3, 4, 5)])
def test_images_in_any_arrangement_become_channels_last_rgb(shape):
    pixels = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    data = from_arrays(pixels, [0, 1])
    assert isinstance(data.items, ImageArrays)
    assert data.items.pixels.shape == (2, 4, 5, 3)
    assert data.items.pixels[1, 0, 0, 0] == pixels[1].flat[0]
    if shape == (2, 3, 4, 5):
        assert data.items.pixels[1, 2, 3, 1] == pixels[1, 1, 2, 3]


def test_tensors_are_arrays():
    data = from_arrays(torch.zeros(3, 2), torch.tensor([5, 7, 5]))
    assert data.classes == ("5", "7")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int8])
def test_labels_may_be_integers_of_any_kind(dtype):
    labels = np.array([2, 0, 1], dtype=dtype)
    for given in (labels, torch.from_numpy(labels)):
        assert from_arrays(np.eye(3), given).labels.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("labels", "classes", "positions"),
    [([2, 0, 2], ["a", "b", "c"], [2, 0, 2]), ([18, 20], range(18, 21), [0, 2]), (["b", "a"], "b,a", [0, 1])],
    ids=["integers are positions in names", "integers are values among integers", "names"],
)
def test_labels_take_the_order_of_the_classes(labels, classes, positions):
    assert from_arrays(np.zeros((len(labels), 1)), labels, classes=classes).labels.tolist() == positions


def test_groups_and_strata_become_text():
    data = from_arrays(np.zeros((2, 1)), [0, 1], groups=[7, 8], strata=["f", "m"])
    assert (data.groups, data.strata) == (("7", "8"), ("f", "m"))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("values", "labels", "settings", "message"),
    [
        (np.zeros((2, 4, 4, 3)), [0, 1], {}, "Images must be uint8, from 0 to 255, got float64"),
        (np.zeros((2, 4, 4, 4), np.uint8), [0, 1], {}, r"must have 1 or 3 channels, .* got shape \(2, 4, 4, 4\)"),
        (np.zeros(2), [0, 1], {}, r"got float64 of shape \(2,\)"),
        (np.array([["a"], ["b"]]), [0, 1], {}, "must be features .* or images"),
        (np.array([[np.inf], [0]]), [0, 1], {}, "must be finite .* got 1 infinite value"),
        (np.zeros((0, 2)), [], {}, "must have at least one sample, got none"),
        (np.zeros((2, 1)), [0, 1, 2], {}, r"`labels` must have one value per sample \(2\), got shape \(3,\)"),
        (np.zeros((2, 1)), [0, 1], {"groups": ["a"]}, r"`groups` must have one value per sample \(2\), got shape"),
        (np.zeros((2, 1)), [0, 1], {"groups": ["a", None]}, r"`groups` must have a name .* 1 sample, .* position 1:"),
        (np.zeros((2, 1)), [0, 1], {"groups": [np.nan, "a"]}, r"`groups` must have a name .* 1 sample, .* position 0:"),
        (np.zeros((2, 1)), [0, 1], {"groups": pd.Series([7, None], dtype="Int64")}, r"`groups` must .* position 1:"),
        (np.zeros((2, 1)), [0, 1], {"groups": pd.Series(["a", None], dtype="string")}, r"`groups` must .* position 1:"),
        (np.zeros((2, 1)), [0, 1], {"groups": ["a", " "]}, r"`groups` must have a name .* position 1:"),
        (np.zeros((2, 1)), [0, 3], {"classes": "a,b,c"}, "must be positions in `classes`, 0 to 2, got 3"),
        (np.zeros((2, 1)), ["a", "b"], {}, "never guessed.* Give `classes`, lowest first"),
        (np.zeros((2, 1)), [1.0, np.nan], {}, "1 sample of 2 has none: row 1"),
    ],
)
def test_arrays_that_are_no_data_set_are_refused(values, labels, settings, message):
    with pytest.raises(InputError, match=message):
        from_arrays(values, labels, **settings)
