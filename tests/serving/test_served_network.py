import numpy as np
import pytest
import torch

from onepeak.serving import load
from onepeak.serving.reading import Reading
from onepeak.serving.served_network import ServedNetwork
from table_models import CALIBRATION, said_of_rows, table_model, table_rows
from trained_models import picture_run

ALPHA = 0.4


def pictures(*shape):
    return np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)


def check_same(answers, said):
    log_probs, label, soi, *interval = (answer.detach() for answer in answers)
    torch.testing.assert_close(log_probs, said.log_probs, rtol=1e-4, atol=1e-4)
    assert torch.equal(label, said.labels)
    torch.testing.assert_close(soi, said.soi)
    assert [each.tolist() for each in interval] == ([] if said.intervals is None else [said.intervals.tolist()])


def test_it_says_of_pictures_what_predict_says():
    model = load(picture_run().folder)
    served = ServedNetwork(model, Reading(alpha=ALPHA, decide="mean"))
    assert served.outputs == ("log_probs", "label", "soi", "interval")
    inputs = pictures(4, 48, 60)  # of the size that the model's resize leaves as it is
    check_same(served(torch.from_numpy(inputs)), model.predict(inputs, alpha=ALPHA, decide="mean"))


def test_a_model_without_calibration_has_no_interval():
    model = table_model("elb")
    served = ServedNetwork(model, Reading())
    assert served.outputs == ("log_probs", "label", "soi")
    rows = table_rows(30)
    check_same(served(torch.from_numpy(rows)), said_of_rows(model, rows))


@pytest.mark.traced
def test_torch_export_takes_it_whole_for_any_batch_and_picture_size():
    model = load(picture_run().folder)
    any_size = torch.export.Dim.DYNAMIC
    served = ServedNetwork(model, Reading(alpha=ALPHA)).eval()
    example = torch.from_numpy(pictures(2, 64, 72))
    with torch.no_grad():
        program = torch.export.export(served, (example,), dynamic_shapes=(dict.fromkeys(range(3), any_size),))
        for shape in ((1, 48, 48), (3, 48, 131)):
            inputs = pictures(*shape)
            answers = program.module()(torch.from_numpy(inputs))
            check_same(answers, model.predict(inputs, alpha=ALPHA))


def test_calibration_is_part_of_it():
    raw, calibrated = (ServedNetwork(table_model("ce", calibration=each), Reading()) for each in (None, CALIBRATION))
    rows = torch.from_numpy(table_rows(20))
    with torch.no_grad():
        expected = (raw(rows)[0] / CALIBRATION.temperature).log_softmax(-1)
        torch.testing.assert_close(calibrated(rows)[0], expected)
