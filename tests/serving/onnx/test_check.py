from dataclasses import replace
from functools import cache

import pytest
import torch

from onepeak.networks import NetworkSettings, build_network
from onepeak.serving.model import Model
from onepeak.serving.onnx.check import check_same_answers, open_session
from onepeak.serving.onnx.graph import ExportError, onnx_bytes
from onepeak.serving.onnx.network import ServedNetwork
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.training.table import TableEncoder
from onnx_answers import answers_of, check_same
from table_models import CALIBRATION, said_of_rows, table_model, table_rows

pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.traced

CHOSEN = PosteriorOptions(alpha=0.2, decide="median")


def model():
    """One that magnifies rounding: many of its levels fall together, or nearly so."""
    return table_model("ren", calibration=CALIBRATION)


@cache
def session():
    return open_session(onnx_bytes(ServedNetwork(model(), CHOSEN), {}))


def test_a_file_that_answers_as_its_model_passes():
    check_same_answers(session(), model(), CHOSEN)
    values = table_rows(100)
    said = said_of_rows(model(), values, alpha=CHOSEN.alpha, decide=CHOSEN.decide)
    check_same(answers_of(session(), values), said)


def test_a_file_of_other_weights_is_refused():
    other = model()
    with torch.no_grad():
        next(other.network.parameters()).mul_(1.1)
    with pytest.raises(
        ExportError, match=r"not kept: \d+% of its log_probs differ from the model's by more than 0.0001"
    ):
        check_same_answers(session(), other, CHOSEN)


def test_a_file_of_another_decision_or_alpha_is_refused():
    with pytest.raises(ExportError, match=r"its `label` differs from the model's in \d+ of 16 samples"):
        check_same_answers(session(), model(), PosteriorOptions(alpha=0.2, decide="mode"))
    with pytest.raises(ExportError, match=r"its `interval` differs from the model's in \d+ of 16 samples"):
        check_same_answers(session(), model(), PosteriorOptions(alpha=0.6, decide="median"))


def test_what_onnxruntime_cannot_open_or_run_is_told():
    with pytest.raises(ExportError, match="not kept: onnxruntime cannot open it: "):
        open_session(b"no graph")
    one_column = TableEncoder(columns=("age",), categories={}, means=(0.0,), stds=(1.0,), missing=())
    network = NetworkSettings(backbone="mlp", num_features=1)
    description = replace(model().description, table=one_column, network=network)
    fewer = Model(description, build_network(model().network.method, network), torch.device("cpu"))
    with pytest.raises(ExportError, match="not kept: onnxruntime cannot run it on float32 1 x 1: "):
        check_same_answers(session(), fewer, CHOSEN)
