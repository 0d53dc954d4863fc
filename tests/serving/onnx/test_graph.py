import numpy as np
import pytest
import scipy.special
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from onepeak.networks.network import Network
from onepeak.serving import load
from onepeak.serving.onnx import graph as ours
from onepeak.serving.onnx.graph import ExportError, ServedNetwork, onnx_bytes
from onepeak.serving.posterior_options import PosteriorOptions
from table_models import CALIBRATION, table_model, table_rows
from trained_models import image_run

ALPHA = 0.4


def images(*shape):
    return np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)


def check_same(answers, said):
    log_probs, label, soi, *interval = (answer.detach() for answer in answers)
    torch.testing.assert_close(log_probs, said.log_probs, rtol=1e-4, atol=1e-4)
    assert torch.equal(label, said.predicted_index)
    torch.testing.assert_close(soi, said.soi)
    assert [each.tolist() for each in interval] == ([] if said.intervals is None else [said.intervals.tolist()])


def test_it_says_of_images_what_predict_says():
    model = load(image_run().folder)
    served = ServedNetwork(model, PosteriorOptions(alpha=ALPHA, decide="mean"))
    assert served.outputs == ("log_probs", "label", "soi", "interval")
    inputs = images(4, 48, 60)  # of the size that the model's resize leaves as it is
    check_same(served(torch.from_numpy(inputs)), model.predict(inputs, alpha=ALPHA, decide="mean"))


def test_calibration_is_part_of_it():
    raw, calibrated = (
        ServedNetwork(table_model("ce", calibration=each), PosteriorOptions()) for each in (None, CALIBRATION)
    )
    rows = torch.from_numpy(table_rows(20))
    with torch.no_grad():
        expected = (raw(rows)[0] / CALIBRATION.temperature).log_softmax(-1)
        torch.testing.assert_close(calibrated(rows)[0], expected)


class Undecided(nn.Module):
    """A backbone that looks at its numbers before it computes, which no graph can."""

    def forward(self, rows):
        return rows if rows.sum() > 0 else -rows


def served_behind(backbone):
    model = table_model("ce")
    network = Network(backbone, nn.Linear(6, 6), model.network.method)
    model.network = network
    return ServedNetwork(model, PosteriorOptions())


@pytest.mark.traced
def test_a_network_that_cannot_be_translated_is_told_in_one_line():
    with pytest.raises(ExportError, match=r"This model cannot be written as ONNX: .*[Dd]ata-dependent") as raised:
        onnx_bytes(served_behind(Undecided()), {})
    assert "\n" not in str(raised.value)


FINITE = st.floats(-1e4, 1e4, width=32)
ROWS = st.lists(FINITE | st.just(-np.inf), min_size=1, max_size=20)


def close(found, expected, *, dtype=np.float64, rtol=1e-12):
    np.testing.assert_allclose(found.numpy(), np.asarray(expected, dtype=dtype), rtol=rtol, atol=0)


@given(st.lists(FINITE | st.floats(-(2**-20), 2**-20, width=32) | st.just(-np.inf), min_size=1))
def test_small_differences_from_one_keep_their_digits(numbers):
    x = np.minimum(numbers, 700)
    close(ours.expm1(torch.tensor(x)), np.expm1(x))
    x = np.nan_to_num(np.abs(numbers), posinf=0.0)
    close(ours.log1p(torch.tensor(x)), np.log1p(x))


@given(st.lists(FINITE, min_size=1))
def test_logistic_functions_and_sums_in_the_tails(numbers):
    x = np.array(numbers)
    close(ours.log_sigmoid(torch.tensor(x)), scipy.special.log_expit(x))
    close(ours.logaddexp(torch.tensor(x), torch.tensor(x[::-1].copy())), np.logaddexp(x, x[::-1]), rtol=1e-11)


@given(ROWS)
def test_running_values_are_those_of_numpy(numbers):
    x = torch.tensor(numbers, dtype=torch.float64)
    close(ours.logcumsumexp(x.unsqueeze(1), 0).squeeze(1), np.logaddexp.accumulate(x.numpy()), rtol=1e-11)
    for name in ("cummin", "cummax"):
        expected = getattr(torch, name)(x, dim=0)
        values, places = ours.exact_operators()[getattr(torch.ops.aten, name).default](x, 0)
        assert torch.equal(values, expected.values)
        assert torch.equal(places, expected.indices)


@given(ROWS, ROWS, st.booleans())
def test_places_in_a_sorted_row_are_those_of_numpy(row, values, right):
    row = np.sort(row)
    expected = np.searchsorted(row, values, side="right" if right else "left")
    rows = torch.tensor(row).expand(2, -1)
    found = ours.searchsorted(rows, torch.tensor(values, dtype=torch.float64).expand(2, -1), right=right)
    assert found.tolist() == [expected.tolist()] * 2


def test_special_functions_are_those_of_scipy():
    counts = np.arange(1.0, 3000)
    np.testing.assert_allclose(ours.lgamma(torch.tensor(counts)), scipy.special.gammaln(counts), rtol=1e-12, atol=1e-11)
    far = np.concatenate([np.linspace(0, 10, 300), np.geomspace(1, 1e6, 300)])
    close(ours.erfcx(torch.tensor(far)), scipy.special.erfcx(far))
    narrow = torch.tensor(far, dtype=torch.float32)
    close(ours.erfcx(narrow), scipy.special.erfcx(narrow.double().numpy()), dtype=np.float32, rtol=1e-6)
