import numpy as np
import pytest
import torch

from onepeak.errors import InputError
from onepeak.networks.inputs import RowInput, normalise


def test_black_becomes_minus_one_and_white_one():
    batch = torch.randint(0, 256, (2, 3, 4, 5), dtype=torch.uint8)
    torch.testing.assert_close(normalise(batch), batch / 127.5 - 1)
    with pytest.raises(InputError, match=r"torch\.float32"):
        normalise(torch.zeros(1, 3, 2, 2))
    with pytest.raises(InputError, match=r"\(3, 2, 2\)"):
        normalise(torch.zeros(3, 2, 2, dtype=torch.uint8))


def features_by_numpy(values, means, stds, num_codes, flags):
    """Column by column, as the definition says."""
    parts = []
    for column, mean, std, count in zip(values.T, means, stds, num_codes, strict=True):
        if count is None:
            parts.append(np.nan_to_num((column[:, None] - mean) / std, nan=0.0))
        else:
            parts.append(column[:, None] == np.arange(count))
    parts += [np.isnan(values[:, [column]]) for column in flags]
    return np.concatenate(parts, axis=1).astype(np.float32)


def test_features_are_those_of_numpy_to_the_last_bit():
    rng = np.random.default_rng(0)
    values = np.stack([rng.normal(1.7e9, 3600, 50), rng.integers(0, 4, 50), rng.normal(size=50), np.ones(50)], axis=1)
    values[rng.random(values.shape) < 0.2] = np.nan
    settings = (1.7e9, 0.0, 0.3, 0.0), (3600.0, 1.0, 0.7, 1.0), (None, 3, None, 0), (2, 0)  # code 3 is unknown
    layer = RowInput(*settings[:2], num_codes=settings[2], flags=settings[3])
    features = layer(torch.tensor(values)).numpy()
    assert features.shape == (50, 1 + 3 + 1 + 0 + 2)
    np.testing.assert_array_equal(features, features_by_numpy(values, *settings))
