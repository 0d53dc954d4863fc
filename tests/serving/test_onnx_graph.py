import json
import logging

import pytest
import torch
from torch import nn

from onepeak.networks.network import Network
from onepeak.serving.onnx_graph import ExportError, onnx_bytes
from onepeak.serving.reading import Reading
from onepeak.serving.served_network import ServedNetwork
from table_models import table_model

pytestmark = pytest.mark.traced


class Undecided(nn.Module):
    """A backbone that looks at its numbers before it computes, which no graph can."""

    def forward(self, rows):
        return rows if rows.sum() > 0 else -rows


def served_behind(backbone):
    model = table_model("ce")
    network = Network(backbone, nn.Linear(6, 6), model.network.method)
    model.network = network
    return ServedNetwork(model, Reading())


def test_a_network_that_cannot_be_translated_is_told_in_one_line():
    with pytest.raises(ExportError, match=r"This model cannot be written as ONNX: .*[Dd]ata-dependent") as raised:
        onnx_bytes(served_behind(Undecided()), {})
    assert "\n" not in str(raised.value)


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
