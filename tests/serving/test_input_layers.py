from dataclasses import replace

import numpy as np
import torch

from onepeak.data.manifest import FeatureRows
from onepeak.serving.input_layers import PictureInput, RowInput, row_dtype
from onepeak.serving.table_rows import rows_of
from onepeak.training.model_files import load_description
from table_models import ENCODER, table_rows
from trained_models import table_run


def test_rows_become_what_the_encoder_makes_of_them():
    values = table_rows(50)
    rows = FeatureRows(columns=ENCODER.columns, values=values.astype(np.float64), categories=dict(ENCODER.categories))
    features = RowInput(ENCODER)(torch.from_numpy(values))
    assert np.isnan(values).any()
    assert torch.equal(features, torch.from_numpy(ENCODER.encode(rows)))


def test_a_column_that_float32_would_blur_is_given_as_float64():
    assert row_dtype(ENCODER) is torch.float32
    assert row_dtype(replace(ENCODER, means=(40.0, 0.0, 1.7e9), stds=(10.0, 1.0, 3600.0))) is torch.float64
    assert row_dtype(replace(ENCODER, means=(40.0, 1e9, 0.0))) is torch.float32  # of categories it says nothing


def test_so_do_the_rows_of_a_table_that_was_trained_on():
    encoder = load_description(table_run().folder).table
    rows = rows_of(table_run().folder.parent / "grades.csv", encoder).rows
    features = RowInput(encoder)(torch.from_numpy(rows.values.copy()))
    assert features.shape == (90, encoder.num_features)
    assert torch.equal(features, torch.from_numpy(encoder.encode(rows)))


def test_pixels_go_from_minus_one_to_one_with_the_colours_first():
    pixels = torch.tensor([[[[0, 51, 255], [255, 0, 0]]]], dtype=torch.uint8)
    expected = torch.tensor([[[[-1.0, 1.0]], [[-0.6, -1.0]], [[1.0, -1.0]]]])
    torch.testing.assert_close(PictureInput()(pixels), expected)
