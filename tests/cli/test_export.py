import json
from functools import partial

import onnxruntime
import pytest

from cli.one_command import invoked
from onepeak.cli.export import export
from onepeak.errors import InputError
from onepeak.training.model_files import save_model
from table_models import table_model
from trained_models import table_run

pytestmark = pytest.mark.traced


@pytest.fixture
def run():
    """Runs `onepeak export`."""
    return partial(invoked, export)


def test_a_model_becomes_a_file_and_the_command_says_what_is_in_it(run, tmp_path):
    model = table_model("ce", num_classes=3)
    save_model(tmp_path / "model", model.description, model.network.state_dict())
    path = tmp_path / "grades.onnx"
    path.write_text("an older one")
    result = run(tmp_path / "model", "--onnx", path, "--force", "--decide", "mean")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "\tname\ttype",
        "input\trows\tfloat32 batch x 3",
        "output\tlog_probs\tfloat32 batch x 3",
        "output\tlabel\tint64 batch",
        "output\tsoi\tfloat32 batch",
    ]
    assert "Note: posteriors are not calibrated and have no intervals" in result.stderr
    assert result.stderr.startswith(f"Exporting {tmp_path / 'model'} ...\n")
    assert f"exported {path}, {path.stat().st_size / 1e6:.1f} MB; onnxruntime and the model agree\n" in result.stderr
    session = onnxruntime.InferenceSession(path)
    assert json.loads(session.get_modelmeta().custom_metadata_map["decision"])["name"] == "mean"


@pytest.mark.bad_input
def test_a_size_that_is_none_ends_with_one_sentence(run, tmp_path):
    for size in ("224", "axb", "224x"):
        with pytest.raises(InputError, match=rf"`--size` must be height and width in pixels, .* got '{size}'"):
            run(table_run().folder, "--onnx", tmp_path / "a.onnx", "--size", size)


@pytest.mark.bad_input
def test_what_cannot_be_done_ends_with_one_sentence(run, tmp_path):
    with pytest.raises(InputError, match=r"must be a model's folder, got one without onepeak\.json"):
        run(tmp_path, "--onnx", tmp_path / "model.onnx")
    with pytest.raises(InputError, match="must be a file to write, got the folder"):
        run(table_run().folder, "--onnx", tmp_path)
    with pytest.raises(InputError, match=r"`alpha` must be a finite number > 0 and < 1, got 1\.0"):
        run(table_run().folder, "--onnx", tmp_path / "model.onnx", "--alpha", 1)
    without = run(table_run().folder)
    assert without.exit_code == 2
    assert "--onnx" in without.stderr
