import json
import logging
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from PIL import Image

import onepeak
from onepeak.data.images.resize import Resize
from onepeak.errors import InputError, MissingExtraError
from onepeak.networks import NetworkSettings, build_network
from onepeak.serving import PosteriorOptions, export_onnx, load
from onepeak.serving.model import Model
from onepeak.serving.onnx.export import check_same_answers, metadata, open_session
from onepeak.serving.onnx.graph import ExportError, ServedNetwork, onnx_bytes
from onepeak.training.familiarity import Familiarity
from onepeak.training.model_files import ModelDescription
from onepeak.training.table_encoder import TableEncoder
from onnx_answers import answers_of, asked, check_same
from table_models import CALIBRATION, ENCODER, RULE, said_of_rows, table_model, table_rows
from trained_models import image_run, table_run

CLIENT = Path(__file__).parents[3] / "examples" / "onnx_client.py"


def images(*shape):
    rng = np.random.default_rng(0)
    colours = rng.uniform(0, 255, (shape[0], 1, 1, 3))
    return (colours + rng.normal(0, 60, (*shape, 3))).clip(0, 255).astype(np.uint8)


def about(path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return {name: json.loads(text) for name, text in session.get_modelmeta().custom_metadata_map.items()}


def untrained(backbone, name, num_classes, resize, **settings):
    network = NetworkSettings(backbone=backbone, **settings)
    description = ModelDescription(
        classes=tuple("abcde"[:num_classes]),
        method=name,
        variant="corrected",
        method_settings={},
        network=network,
        resize=resize,
        table=None,
    )
    built = build_network(onepeak.method(name, num_classes=num_classes), network, seed=0)
    return Model(description, built, torch.device("cpu"))


def said_of_pixels(model, pixels):
    """What the model says of images as they are, not resized."""
    return model.read(model.answers(list(pixels)), PosteriorOptions())


@cache
def exported_images():
    return export_onnx(model_that_knows_its_images(), image_run().folder.with_name("model.onnx"))


def model_that_knows_its_images():
    model = load(image_run().folder)
    directions = torch.rand(40, 128, generator=torch.Generator().manual_seed(0)).half()
    model.familiarity = Familiarity(references=directions, threshold=0.7)
    return model


@pytest.mark.traced
def test_images_of_every_size_and_number_get_what_predict_says():
    written, model = exported_images(), model_that_knows_its_images()
    for shape in ((1, 48, 48), (3, 48, 131), (7, 60, 48)):  # what the model's resize leaves as it is
        inputs = images(*shape)
        check_same(asked(written.path, inputs), model.predict(inputs))
    # maps of 5 x 5 (a tenth is 2.5 positions, rounded to 2), 3 x 17, 1 x 1, 25 x 38
    for shape in ((4, 40, 40), (2, 17, 130), (3, 8, 8), (1, 200, 300)):
        inputs = images(*shape)
        check_same(asked(written.path, inputs), said_of_pixels(model, inputs))
    assert written.inputs == {"pictures": "uint8 batch x height x width x 3"}
    assert written.outputs == {
        "log_probs": "float32 batch x 8",
        "label": "int64 batch",
        "soi": "float32 batch",
        "interval": "int64 batch x 2",
        "distance": "float32 batch",
    }
    assert written.num_bytes == written.path.stat().st_size
    assert about(written.path)["classes"] == list(model.classes)


@pytest.mark.traced
def test_the_example_client_says_what_predict_says_without_torch(tmp_path):
    written, model = exported_images(), load(image_run().folder)
    paths = [str(tmp_path / f"{number}.png") for number in range(3)]
    for path, image in zip(paths, images(3, 100, 70), strict=True):
        Image.fromarray(image).save(path)
    with Image.open(paths[2]) as seen:
        seen.putalpha(100)  # lies on white
        seen.save(paths[2])
    without = "import sys, runpy; sys.modules.update(torch=None, onepeak=None); sys.argv = sys.argv[1:]; "
    command = [sys.executable, "-W", "error", "-c", without + "runpy.run_path(sys.argv[0])", str(CLIENT)]
    (tmp_path / "bad.png").write_bytes(b"\x89PNG no image")
    Image.fromarray(np.full((9, 9), 30_000, dtype=np.uint16)).save(tmp_path / "deep.png")
    Image.fromarray(np.full((9, 9), 0.5, dtype=np.float32)).save(tmp_path / "float.tif")
    bad = [str(tmp_path / name) for name in ("bad.png", "nowhere.png", "deep.png", "float.tif")]
    ended = subprocess.run([*command, str(written.path), *bad, *paths], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    *told, last = ended.stderr.splitlines()
    assert [line.partition(": cannot be read: ")[0] for line in told] == bad
    assert all("must be 8-bit grey or RGB, got pixels of mode " in line for line in told[2:])
    assert last == "4 of 7 images failed"
    said = model.predict(paths)
    for line, path, row, (lower, upper) in zip(
        ended.stdout.splitlines(), paths, said, said.interval_names, strict=True
    ):
        probability = np.exp(row.log_probs[row.predicted_index])
        expected = f"{path}: {row.predicted_class}, probability {probability:.3f}, from {lower} to {upper}"
        assert line == f"{expected} in 90% of cases"


@pytest.mark.traced
def test_rows_with_projection_costs_and_alpha_get_what_predict_says(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    folder, costs = table_run().folder, [[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [9.0, 3.0, 0.0]]
    choices = {"alpha": 0.3, "decide": "cost", "cost": costs, "project": True}
    written = export_onnx(load(folder), tmp_path / "new" / "rows.onnx", **choices)
    rng = np.random.default_rng(0)
    for count in (1, 40):
        values = np.stack([rng.normal(1, 1, count), rng.integers(0, 3, count)], axis=1).astype(np.float32)
        missing = np.flatnonzero(rng.random(count) < 0.4)
        values[missing, rng.integers(0, 2, len(missing))] = np.nan  # never both: such a row gets no answer
        names = ("1", "2", "dark")
        tones = [None if np.isnan(code) else names[int(code)] for code in values[:, 1]]
        check_same(asked(written.path, values), load(folder).predict({"size": values[:, 0], "tone": tones}, **choices))
    assert written.inputs == {"rows": "float32 batch x 2"}
    properties = about(written.path)
    assert properties["preprocessing"]["categories"] == {"tone": list(names)}
    assert (properties["projected"], properties["alpha"]) == (True, 0.3)
    assert properties["decision"] == {"name": "cost", "of": "the posterior in log_probs", "costs": costs}
    graph = onnx.load(written.path)
    onnx.checker.check_model(graph, full_check=True)
    assert (graph.producer_name, {entry.domain: entry.version for entry in graph.opset_import}[""]) == ("onepeak", 18)
    assert b".py" not in written.path.read_bytes(), "no path on this machine"
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert torch.is_grad_enabled()


@pytest.mark.traced
@pytest.mark.slow
def test_a_network_of_timm_is_exported_for_every_size(tmp_path):
    model = untrained("resnet18", "po", 5, Resize(scale=0.5), alpha=0.5)
    written = export_onnx(model, tmp_path / "po.onnx")
    for shape in ((1, 64, 64), (2, 150, 97)):
        inputs = images(*shape)
        check_same(asked(written.path, inputs), said_of_pixels(model, inputs))
    assert "not calibrated" in written.notes[0]


@pytest.mark.traced
@pytest.mark.slow
def test_a_network_with_windows_is_exported_for_one_size(tmp_path):
    model = untrained("swin_tiny_patch4_window7_224", "elb", 3, Resize(short_side=64))
    written = export_onnx(model, tmp_path / "swin.onnx", size=(64, 96))
    assert written.inputs == {"pictures": "uint8 batch x 64 x 96 x 3"}
    assert about(written.path)["preprocessing"]["size"] == {"height": 64, "width": 96}
    for count in (1, 3):
        inputs = images(count, 64, 96)
        check_same(asked(written.path, inputs), said_of_pixels(model, inputs))


@pytest.mark.traced
@pytest.mark.bad_input
def test_a_size_that_is_needed_wrong_or_without_effect_is_told_before_any_work(tmp_path):
    with_windows = load(image_run().folder)
    with_windows.network.backbone.window_size = 7  # as swin's blocks have
    with pytest.raises(InputError, match=r"`size` must be given for a network with windows such as small"):
        export_onnx(with_windows, tmp_path / "model.onnx")
    with pytest.raises(InputError, match=r"`size` must be left out for a model of a table"):
        export_onnx(table_model("ce"), tmp_path / "model.onnx", size=(64, 64))
    with pytest.raises(InputError, match="`size` must be an integer >= 1, got 0"):
        export_onnx(load(image_run().folder), tmp_path / "model.onnx", size=(64, 0))


SPECIAL = [
    ("ren", {"posterior": "slopes"}),
    ("ren", {"variant": "as_published"}),
    ("po", {"variant": "as_published"}),
    ("rps+elb", {}),
    ("mv+elb", {}),
]


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize(("name", "settings"), [*((record.name, {}) for record in onepeak.methods()), *SPECIAL])
def test_every_method_is_exported_with_its_calibration(tmp_path, name, settings):
    model = table_model(name, calibration=CALIBRATION, **settings)
    written = export_onnx(model, tmp_path / "model.onnx")
    values = table_rows(64)
    check_same(asked(written.path, values), said_of_rows(model, values))


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "num_classes", "options"),
    [
        *(("ce", 70, {"decide": decide, "project": True}) for decide in ("mode", "median", "mean", "qwk")),
        ("ce", 70, {"decide": "median"}),
        ("ren", 6, {"project": True}),  # the method's own label is the peak
    ],
)
def test_posteriors_of_many_classes_are_decided_and_projected_as_by_predict(tmp_path, name, num_classes, options):
    model = table_model(name, num_classes=num_classes, calibration=CALIBRATION)
    written = export_onnx(model, tmp_path / "model.onnx", **options)
    values = table_rows(64)
    answers, said = asked(written.path, values), said_of_rows(model, values, **options)
    check_same(answers, said)
    at_the_peak = answers["label"] == answers["log_probs"].argmax(-1)
    assert "project" not in options or (answers["soi"][at_the_peak] == 1).all()


@pytest.mark.traced
@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("there.onnx", {}, r"must be a new one, got .*there\.onnx, which exists: replace it with --force"),
        ("", {}, "The ONNX file must be a file to write, got the folder"),
        ("there.onnx/model.onnx", {}, r"must be one that can be written, got .*: (Not a dir|File exists)"),
        ("new.onnx", {"alpha": 0.001}, r"`alpha` must be >= 0\.01 for a model whose validation part had 99 samples"),
        ("new.onnx", {"decide": "medain"}, r"Unknown `decide` 'medain'\. Did you mean 'median'"),
    ],
)
def test_what_cannot_be_is_told_before_any_work(tmp_path, name, options, message):
    (tmp_path / "there.onnx").write_text("precious")
    with pytest.raises(InputError, match=message):
        export_onnx(table_model("ce", calibration=CALIBRATION), tmp_path / name, **options)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious"]


@pytest.mark.traced
@pytest.mark.parametrize("module", ["onnx", "onnxscript", "onnxruntime"])
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"needs {module}: pip install 'onepeak\[export\]'"):
        export_onnx(table_model("ce"), tmp_path / "model.onnx")


def read(model, **posterior_options):
    entries = metadata(model, PosteriorOptions(**posterior_options), ("log_probs", "label"))
    return {name: json.loads(text) for name, text in entries.items()}


def test_a_file_says_how_to_make_its_inputs_and_what_the_answers_mean():
    model = load(image_run().folder)
    network = replace(model.description.network, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
    resize = Resize(short_side=532, only_enlarge=True, scale=0.5)
    model.description = replace(model.description, network=network, bits=12, resize=resize)
    about = read(model)
    assert (about["classes"], list(about["outputs"])) == (list(model.classes), ["log_probs", "label"])
    assert about["method"] == {"name": "elb", "variant": "corrected", "settings": {}}
    assert about["temperature"] == model.description.calibration.temperature
    assert about["decision"] == {"name": "mode", "of": "the method's own outputs"}
    preprocessing = about["preprocessing"]
    assert preprocessing["resize"]["short_side"] == 532
    assert "multiplied by max(1, 532 / min(height, width)) * 0.5 and" in preprocessing["resize_in_words"]
    assert preprocessing["inside_the_file"] == "(x / 255 - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)"
    assert "16-bit images: 0 to 4095 is scaled" in preprocessing["decode"]
    rows = read(
        table_model("ren", posterior="slopes", calibration=CALIBRATION), alpha=0.2, decide="median", project=True
    )
    assert rows["preprocessing"]["columns"] == list(ENCODER.columns)
    assert rows["preprocessing"]["categories"] == {"tone": ["pale", "2", "dark"]}
    assert (rows["temperature"], rows["alpha"], rows["projected"]) == (3.0, 0.2, True)
    assert rows["decision"] == {"name": "median", "of": "the posterior in log_probs"}
    ruled, unruled = (
        read(table_model("po", calibration=replace(CALIBRATION, qwk=rule)), decide="qwk") for rule in (RULE, None)
    )
    assert ruled["decision"] == {"name": "qwk", "of": "the posterior in log_probs"}
    assert unruled["decision"] == {"name": "mean", "of": "the method's own outputs"}
    uncalibrated = read(table_model("po"))
    assert (uncalibrated["temperature"], uncalibrated["alpha"]) == (1.0, None)
    assert "not calibrated" in uncalibrated["notes"][0]


CHOSEN = PosteriorOptions(alpha=0.2, decide="median")


TIMES = replace(ENCODER, means=(40.0, 0.0, 1.7e9), stds=(10.0, 1.0, 60.0))


def levels_model():
    """One that magnifies rounding: many of its levels fall together, or nearly so. Its last column is in seconds."""
    return table_model("ren", calibration=CALIBRATION, encoder=TIMES)


@cache
def session():
    return open_session(onnx_bytes(ServedNetwork(levels_model(), CHOSEN), {}))


@pytest.mark.traced
def test_a_file_that_answers_as_its_model_passes_and_tells_times_in_seconds_apart():
    check_same_answers(session(), levels_model(), CHOSEN)
    assert session().get_inputs()[0].type == "tensor(double)"
    values = table_rows(100).astype(np.float64)
    values[:, 2] = 1.7e9 + 60 * np.linspace(-2, 2, 100)
    said = said_of_rows(levels_model(), values, alpha=CHOSEN.alpha, decide=CHOSEN.decide)
    check_same(answers_of(session(), values), said)


@pytest.mark.traced
def test_a_file_of_other_weights_is_refused():
    other = levels_model()
    with torch.no_grad():
        next(other.network.parameters()).mul_(1.1)
    with pytest.raises(
        ExportError, match=r"not kept: \d+% of its log_probs differ from the model's by more than 0.0001"
    ):
        check_same_answers(session(), other, CHOSEN)


@pytest.mark.traced
def test_a_file_of_another_decision_or_alpha_is_refused():
    with pytest.raises(ExportError, match=r"its `label` differs from the model's in \d+ of 16 samples"):
        check_same_answers(session(), levels_model(), PosteriorOptions(alpha=0.2, decide="mode"))
    with pytest.raises(ExportError, match=r"its `interval` differs from the model's in \d+ of 16 samples"):
        check_same_answers(session(), levels_model(), PosteriorOptions(alpha=0.6, decide="median"))


@pytest.mark.traced
def test_what_onnxruntime_cannot_open_or_run_is_told():
    with pytest.raises(ExportError, match="not kept: onnxruntime cannot open it: "):
        open_session(b"no graph")
    one_column = TableEncoder(columns=("age",), categories={}, means=(0.0,), stds=(1.0,), missing=())
    network = NetworkSettings(backbone="mlp", num_features=1)
    description = replace(levels_model().description, table=one_column, network=network)
    fewer = Model(description, build_network(levels_model().network.method, network), torch.device("cpu"))
    with pytest.raises(ExportError, match="not kept: onnxruntime cannot run it on float32 1 x 1: "):
        check_same_answers(session(), fewer, CHOSEN)
