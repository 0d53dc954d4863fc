from dataclasses import replace

import numpy as np
import pytest
import torch

from onepeak.data.manifest import FeatureRows
from onepeak.serving import load
from onepeak.serving.onnx.network import ImageInput, RowInput, ServedNetwork, row_dtype
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.table_rows import rows_of
from onepeak.training.model_files import load_description
from table_models import CALIBRATION, ENCODER, said_of_rows, table_model, table_rows
from trained_models import image_run, table_run

ALPHA = 0.4


def images(*shape):
    return np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)


def check_same(answers, said):
    log_probs, label, soi, *interval = (answer.detach() for answer in answers)
    torch.testing.assert_close(log_probs, said.log_probs, rtol=1e-4, atol=1e-4)
    assert torch.equal(label, said.labels)
    torch.testing.assert_close(soi, said.soi)
    assert [each.tolist() for each in interval] == ([] if said.intervals is None else [said.intervals.tolist()])


def test_it_says_of_images_what_predict_says():
    model = load(image_run().folder)
    served = ServedNetwork(model, PosteriorOptions(alpha=ALPHA, decide="mean"))
    assert served.outputs == ("log_probs", "label", "soi", "interval")
    inputs = images(4, 48, 60)  # of the size that the model's resize leaves as it is
    check_same(served(torch.from_numpy(inputs)), model.predict(inputs, alpha=ALPHA, decide="mean"))


def test_a_model_without_calibration_has_no_interval():
    model = table_model("elb")
    served = ServedNetwork(model, PosteriorOptions())
    assert served.outputs == ("log_probs", "label", "soi")
    rows = table_rows(30)
    check_same(served(torch.from_numpy(rows)), said_of_rows(model, rows))


@pytest.mark.traced
def test_torch_export_takes_it_whole_for_any_batch_and_image_size():
    model = load(image_run().folder)
    any_size = torch.export.Dim.DYNAMIC
    served = ServedNetwork(model, PosteriorOptions(alpha=ALPHA)).eval()
    example = torch.from_numpy(images(2, 64, 72))
    with torch.no_grad():
        program = torch.export.export(served, (example,), dynamic_shapes=(dict.fromkeys(range(3), any_size),))
        for shape in ((1, 48, 48), (3, 48, 131)):
            inputs = images(*shape)
            answers = program.module()(torch.from_numpy(inputs))
            check_same(answers, model.predict(inputs, alpha=ALPHA))


def test_calibration_is_part_of_it():
    raw, calibrated = (
        ServedNetwork(table_model("ce", calibration=each), PosteriorOptions()) for each in (None, CALIBRATION)
    )
    rows = torch.from_numpy(table_rows(20))
    with torch.no_grad():
        expected = (raw(rows)[0] / CALIBRATION.temperature).log_softmax(-1)
        torch.testing.assert_close(calibrated(rows)[0], expected)


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
    torch.testing.assert_close(ImageInput()(pixels), expected)
