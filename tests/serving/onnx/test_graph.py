import json
import logging

import numpy as np
import pytest
import scipy.special
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from onepeak.networks.network import Network
from onepeak.serving.onnx import graph as ours
from onepeak.serving.onnx.graph import ExportError, onnx_bytes
from onepeak.serving.onnx.network import ServedNetwork
from onepeak.serving.posterior_options import PosteriorOptions
from table_models import table_model


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


@pytest.mark.traced
def test_the_file_holds_its_properties_and_no_place_on_this_machine(caplog):
    onnx = pytest.importorskip("onnx")
    with caplog.at_level(logging.INFO):
        content = onnx_bytes(served_behind(nn.Identity()), {"classes": json.dumps(["low", "high"])})
    graph = onnx.load_model_from_string(content)
    onnx.checker.check_model(graph, full_check=True)
    assert {entry.key: entry.value for entry in graph.metadata_props} == {"classes": '["low", "high"]'}
    assert graph.producer_name == "onepeak"
    assert {entry.domain: entry.version for entry in graph.opset_import}[""] == 18
    assert __file__.encode() not in content
    assert b".py" not in content
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert torch.is_grad_enabled()


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


def test_an_order_of_its_own_is_not_known():
    with pytest.raises(NotImplementedError, match="a sorter"):
        ours.searchsorted(torch.zeros(2), torch.zeros(1), sorter=torch.tensor([1, 0]))


def test_special_functions_are_those_of_scipy():
    counts = np.arange(1.0, 3000)
    np.testing.assert_allclose(ours.lgamma(torch.tensor(counts)), scipy.special.gammaln(counts), rtol=1e-12, atol=1e-11)
    far = np.concatenate([np.linspace(0, 10, 300), np.geomspace(1, 1e6, 300)])
    close(ours.erfcx(torch.tensor(far)), scipy.special.erfcx(far))
    narrow = torch.tensor(far, dtype=torch.float32)
    close(ours.erfcx(narrow), scipy.special.erfcx(narrow.double().numpy()), dtype=np.float32, rtol=1e-6)
