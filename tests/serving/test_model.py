"""A loaded model as its user meets it: long because images, arrays and tables each have their own ways in."""

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest
import torch
from PIL import Image
from torch import nn
from torch._inductor import config as inductor

from image_files import in_twelve_bits
from onepeak.errors import InputError
from onepeak.networks import NetworkSettings, build_network
from onepeak.serving import load, stream
from onepeak.serving.model import Model, model_folder
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.table_rows import rows_of
from onepeak.training.devices import make_fabric
from onepeak.training.evaluate import predict
from trained_models import changeable, image_run, table_run


@pytest.fixture
def pixels():
    return image_run().manifest.items.pixels


@pytest.fixture
def copied(tmp_path):
    """The model's folder to do harm to."""
    return changeable(image_run().folder, tmp_path / "model")


def test_images_get_to_the_bit_what_training_said_of_them(model, pixels):
    run = image_run()
    assert repr(model) == "Model(images, 'elb', 8 classes, cpu)"
    assert model.model_id == hashlib.sha256((run.folder / "model.safetensors").read_bytes()).hexdigest()[:12]
    stored = pandas.read_parquet(run.folder / "predictions.parquet").query("part == 'test'")
    said = model.predict(pixels[run.split.test], batch_size=run.recipe.evaluation_batch_size, raw=True)
    assert said.predicted_index.tolist() == stored["predicted"].tolist()
    assert (said.log_probs.numpy() == np.stack(stored["log_probs"])).all()


def test_rows_get_to_the_bit_what_the_evaluation_of_training_says(table_model):
    run = table_run()
    feed, _ = run.prepared.feed(run.split, run.recipe, torch.device("cpu"))
    labels, size = torch.from_numpy(run.manifest.labels.copy()), run.recipe.evaluation_batch_size
    fabric = make_fabric(device="cpu")
    expected = predict(table_model.network, feed, np.arange(90), labels, fabric=fabric, batch_size=size)
    said = table_model.predict(run.folder.parent / "grades.csv", raw=True)
    assert torch.equal(said.log_probs, expected.log_probs)
    assert torch.equal(said.predicted_index, expected.predicted_index)
    assert said.sources[:2] == (2, 3)  # the lines of the file


def test_twelve_bits_are_told_unless_the_model_knows_and_then_read_as_eight_were(model, pixels, tmp_path):
    grey = pixels[0].mean(axis=-1).astype(np.uint8)
    Image.fromarray(in_twelve_bits(grey)).save(tmp_path / "scan.png")
    assert model.predict(tmp_path / "scan.png").notes[0].startswith("no value above ")
    model.description = replace(model.description, bits=12)
    expected = model.predict(np.stack([grey] * 3, axis=-1))
    with Image.open(tmp_path / "scan.png") as opened:
        for given in (tmp_path / "scan.png", opened):
            said = model.predict(given)
            assert (said.log_probs == expected.log_probs).all()
            assert [note for note in said.notes if "no colour" not in note] == []
    Image.fromarray(np.full((8, 8), 5000, np.uint16)).save(tmp_path / "scan.png")
    with pytest.raises(
        InputError, match=r"scan\.png cannot be read: a value of 5,000 exceeds 4,095, the highest that `bits` 12 allows"
    ):
        model.predict(tmp_path / "scan.png")


def test_files_arrays_tensors_and_opened_images_give_the_same(model, pixels, tmp_path):
    few = pixels[:3]
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    for path, image in zip(paths, few, strict=True):
        Image.fromarray(image).save(path)
    opened = [Image.open(path) for path in paths]
    first = torch.from_numpy(few.copy()).permute(0, 3, 1, 2)
    expected = model.predict(few).log_probs
    texts = [str(path) for path in paths]
    for inputs in (paths, texts, tmp_path, opened, list(few), first, list(first), [paths[0], *few[1:]]):
        assert torch.equal(model.predict(inputs).log_probs, expected)
    for image in opened:
        image.close()
    assert model.predict(paths).sources == tuple(texts)


def test_a_image_turned_by_exif_is_the_upright_one(model, pixels, tmp_path):
    upright = pixels[0][:40]
    turned = Image.fromarray(np.rot90(upright))
    exif = Image.Exif()
    exif[274] = 6  # to be seen, it is turned clockwise by a quarter
    turned.save(tmp_path / "turned.png", exif=exif)
    expected = model.predict(upright).log_probs
    assert torch.equal(model.predict(tmp_path / "turned.png").log_probs, expected)
    with Image.open(tmp_path / "turned.png") as opened:
        assert torch.equal(model.predict(opened).log_probs, expected)


def test_images_of_different_sizes_keep_their_order(model, pixels):
    mixed = [pixels[number][: 64 - 8 * (number % 3)] for number in range(12)]
    together = model.predict(mixed, batch_size=2).log_probs
    alone = torch.cat([model.predict(image).log_probs for image in mixed])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-5)
    assert together.unique(dim=0).shape == alone.shape


def test_rows_in_every_form_give_the_same(table_model):
    columns = {"size": [0.5, None, 2.0], "tone": ["1", "dark", None]}
    frame = pandas.DataFrame(columns)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    in_order = [list(row.values()) for row in rows]
    expected = table_model.predict(frame).log_probs
    more = frame[["tone", "size"]].assign(name=[object()] * 3)  # a column that the model does not know
    for inputs in (columns, rows, in_order, np.array(in_order, dtype=object), more):
        assert torch.equal(table_model.predict(inputs).log_probs, expected)
    alone = table_model.predict(rows[0]).log_probs  # other batches may round differently
    torch.testing.assert_close(alone, expected[:1], rtol=0, atol=1e-6)


def test_a_name_the_model_has_not_seen_is_missing_and_noted(table_model):
    said = table_model.predict({"size": [0.5, 0.5], "tone": ["pale", None]})
    assert torch.equal(said.log_probs[0], said.log_probs[1])
    assert said.notes == (
        "1 name of the column 'tone' not seen in training, taken as missing: pale",
        "missing values in 2 of 2 rows, filled in as in training",
        "unlike the training data, do not rely on such predictions: 1 of 2 rows, by tone (1): row 0",
    )
    assert said.unlike == (("tone",), ())
    assert table_model.predict({"size": 999.0, "tone": "1"}).notes == (
        "unlike the training data, do not rely on such predictions: 1 of 1 row, by size (1): row 0",
    )


@pytest.mark.bad_input
def test_a_folder_without_a_whole_model_is_refused(copied, tmp_path):
    (tmp_path / "file").write_text("")
    for folder, message in (
        (tmp_path, r"must be a model's folder, got one without onepeak.json"),
        (tmp_path / "nowhere", "must be a model's folder, got nothing there"),
        (tmp_path / "file", "must be a model's folder, got a file"),
    ):
        with pytest.raises(InputError, match=message):
            load(folder)
    with pytest.raises(InputError, match="Unknown `device` 'tpu'"):
        load(copied, device="tpu")
    weights, path = copied / "model.safetensors", copied / "onepeak.json"
    content = json.loads(path.read_text())
    for text, message in (
        (
            json.dumps({**content, "classes": list("abc")}),
            "for 'elb' with 3 classes, got tensors that do not fit: 2 of",
        ),
        (json.dumps({**content, "format": 2}), "must be of format 1, got 2: it needs another version of onepeak"),
        ("{", "is damaged"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            load(copied)
    path.write_text(json.dumps(content))
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(InputError, match=r"model.safetensors must be the weights of the model, got a file that cannot"):
        load(copied)
    shutil.copy(table_run().folder / "model.safetensors", weights)
    with pytest.raises(InputError, match=r"must hold the weights of the small network for 'elb' with 8 classes, got"):
        load(copied)
    weights.unlink()
    with pytest.raises(InputError, match=r"must hold the model's weights, model.safetensors, got a folder without"):
        load(copied)


@pytest.mark.bad_input
def test_inputs_that_are_no_images_are_refused(model, pixels, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    for inputs, message in (
        (tmp_path / "notes.txt", r"notes.txt cannot be read: not an image in a known format"),
        ([tmp_path / "nothing.png"], r"nothing.png cannot be read: there is no such file"),
        (tmp_path, r"There are no images below .* \(1 other file there\)"),
        ([], "`inputs` must hold at least one image, got none"),
        (pixels / 255, "must be uint8, 0 to 255, got float64: scale and convert it"),
        (pixels[0, :, :, 0], r"must have shape \(n, height, width, 3\).*got \(64, 64\) for one image"),
        (3, r"`inputs` must be images: .* got int"),
        ([None], "got one that is NoneType"),
    ):
        with pytest.raises(InputError, match=message):
            model.predict(inputs)
    with pytest.raises(InputError, match="`batch_size` must be an integer >= 1, got 0"):
        model.predict(pixels, batch_size=0)


@pytest.mark.bad_input
def test_inputs_that_are_no_such_rows_are_refused(table_model, tmp_path):
    for inputs, message in (
        ({"size": [1.0]}, "must have the columns size, tone, it lacks tone"),
        ({"size": ["big"], "tone": ["1"]}, "row 0 of the inputs has no prediction: `size` must be a number, got 'big'"),
        (np.zeros((1, 3)), r"must have shape \(rows, 2\), for the columns size, tone, got \(1, 3\)"),
        (torch.zeros(1, 2), "An array of numbers cannot hold the text that the model reads in tone"),
        (pandas.DataFrame({"size": [], "tone": []}), "`inputs` must have at least one row, got none"),
        ({"size": [1.0, 2.0], "tone": ["1"]}, "must be columns of one length"),
        (tmp_path / "nothing.csv", r"There is no file .*; this model reads a table"),
        (3, r"`inputs` must be a table: .* got int"),
    ):
        with pytest.raises(InputError, match=message):
            table_model.predict(inputs)
    with pytest.raises(InputError, match="This model reads rows of a table, got an image"):
        table_model.pixels(tmp_path / "a.png")


@pytest.mark.bad_input
def test_a_row_without_a_posterior_is_named_and_changes_no_other_answer(table_model):
    rows = pandas.DataFrame({"size": [0.5, 1e30, 2.0], "tone": ["1", "dark", "2"]})
    with pytest.raises(InputError, match="row 1 of the inputs has no prediction: the model has no posterior for it"):
        table_model.predict(rows)
    own = table_model.row_answers(rows_of(rows, table_model.description.table).rows)
    said = table_model.predict(rows.iloc[[0, 2]], raw=True)
    assert own.log_probs.isnan().any(dim=-1).tolist() == [False, True, False]
    assert torch.equal(own.predicted_index[[0, 2]], said.predicted_index)
    torch.testing.assert_close(own.log_probs[[0, 2]], said.log_probs, rtol=0, atol=1e-6)


@pytest.mark.gpu
def test_a_gpu_says_nearly_the_same(model, pixels):
    said = load(image_run().folder, device="cuda").predict(pixels)
    assert said.log_probs.device.type == "cpu"
    torch.testing.assert_close(said.log_probs, model.predict(pixels).log_probs, rtol=0, atol=1e-2)


def test_every_way_to_read_a_posterior_can_be_asked_for(model, table_model, pixels, tmp_path):
    rows = {"size": [0.1, 0.9, None, 2.2], "tone": ["1", "2", "dark", None]}
    options = {"decide": "mean", "project": True, "alpha": 0.5}
    for each, inputs in ((model, pixels[:5]), (table_model, rows)):
        raw = each.predict(inputs, raw=True)
        for chosen in ({}, options):
            said, expected = each.predict(inputs, **chosen), each.read(raw, PosteriorOptions(**chosen))
            assert torch.equal(said.log_probs, expected.log_probs)
            assert torch.equal(said.predicted_index, expected.predicted_index)
            assert torch.equal(said.intervals, expected.intervals)
        assert (said.alpha, said.unimodal.all().item()) == (0.5, True)
    (tmp_path / "costs.csv").write_text(",high,low,middle\nhigh,0,9,9\nmiddle,0,9,9\nlow,0,9,9\n")
    said = table_model.predict(rows, decide="cost", cost=tmp_path / "costs.csv")
    assert said.predicted_class == ("high",) * 4  # which costs nothing, whatever is true


@pytest.mark.bad_input
def test_what_cannot_be_read_that_way_is_refused_before_any_image(model, tmp_path):
    for settings, message in (
        ({"decide": "modus"}, "Unknown `decide` 'modus'"),
        ({"alpha": 0.0001}, r"`alpha` must be >= 0\.\d+ for a model whose validation part had"),
    ):
        with pytest.raises(InputError, match=message):
            model.predict(tmp_path / "gone.png", **settings)
        with pytest.raises(InputError, match=message):
            stream(model, [tmp_path / "gone.png"], posterior_options=PosteriorOptions(**settings))


def test_a_model_of_an_earlier_version_answers_without_calibration(copied, pixels):
    path = copied / "onepeak.json"
    content = json.loads(path.read_text())
    del content["calibration"]
    path.write_text(json.dumps(content))
    said = load(copied).predict(pixels[:2])
    assert said.intervals is None
    assert said.notes == ("posteriors are not calibrated and have no intervals: the model is from an earlier version",)
    assert torch.equal(said.log_probs, load(image_run().folder).predict(pixels[:2], raw=True).log_probs)


def test_to_answer_no_compiler_and_no_metrics_are_imported():
    place = table_run().folder
    heavy = "('torch._dynamo', 'torchmetrics', 'lightning', 'torchvision', 'scipy', 'matplotlib')"
    code = (
        "import sys; from onepeak.serving import load; load(sys.argv[1]).predict(sys.argv[2]); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, place, place.parent / "grades.csv"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


SEEN = []


class Watched(nn.Linear):
    """Looks whether torch's compiler is to give the same bits."""

    def __init__(self, num_features):
        super().__init__(num_features, 4)

    def forward(self, rows):
        SEEN.append(inductor.deterministic)
        return super().forward(rows)


def test_a_network_of_somebodys_own_may_be_compiled_and_gives_the_same_bits_too(table_model):
    num_features = table_model.description.network.num_features
    settings = NetworkSettings(backbone=f"{__name__}:Watched", num_features=num_features)
    description = replace(table_model.description, network=settings)
    own = Model(description, build_network(table_model.network.method, settings), table_model.device)
    SEEN.clear()
    own.predict(table_run().folder.parent / "grades.csv")
    assert (set(SEEN), inductor.deterministic) == ({True}, False)


def test_images_unlike_the_training_are_told_and_by_older_models_not(model, pixels, tmp_path):
    black = np.zeros((64, 64, 3), np.uint8)
    said = model.predict([pixels[0], black, pixels[1]])
    by = ", ".join(f"{name} (1)" for name in said.unlike[1])
    assert said.notes == (f"unlike the training data, do not rely on such predictions: 1 of 3 images, by {by}: item 1",)
    assert (said.unlike[0], said[1].unlike, said[1:].unlike) == ((), said.unlike[1], said.unlike[1:])
    Image.fromarray(black).save(tmp_path / "black.png")
    Image.fromarray(pixels[0]).save(tmp_path / "usual.png")
    assert model.predict(tmp_path).notes[0].endswith(f": {tmp_path / 'black.png'}")
    assert model.predict(pixels).notes == ()
    model.description = replace(model.description, image_range=None)
    older = model.predict([pixels[0], black, pixels[1]])
    assert older.notes == ()
    assert older.unlike == (None, None, None)
    assert torch.equal(older.log_probs, said.log_probs)


@pytest.mark.bad_input
def test_a_comparison_with_one_run_means_its_model_and_of_several_one_must_be_named(tmp_path):
    assert model_folder(tmp_path) == tmp_path  # left to the loader
    assert model_folder(Path("~/nothing")) == Path.home() / "nothing"
    runs = [tmp_path / "runs" / name / "split0-fold0" for name in ("elb", "ce")]
    for run, found in zip(runs, (True, False), strict=True):
        run.mkdir(parents=True)
        (run / "onepeak.json").write_text("{}")
        assert not found or model_folder(tmp_path) == run
    with pytest.raises(InputError, match=r"must hold one model, got a comparison with 2: name one of them"):
        load(tmp_path)
