import json
from dataclasses import replace

import pytest

from onepeak.data.resize import Resize
from onepeak.serving import load
from onepeak.serving.onnx_metadata import metadata
from onepeak.serving.reading import Reading
from table_models import CALIBRATION, ENCODER, table_model
from trained_models import picture_run


def read(model, **reading):
    entries = metadata(model, Reading(**reading), ("log_probs", "label"))
    return {name: json.loads(text) for name, text in entries.items()}


def test_a_file_of_pictures_says_how_to_make_them_and_what_the_answers_mean():
    model = load(picture_run().folder)
    about = read(model)
    assert about["classes"] == list(model.classes)
    assert about["preprocessing"]["resize"]["short_side"] == 48
    assert "multiplied by 48 / min(height, width) and rounded" in about["preprocessing"]["resize_in_words"]
    assert list(about["outputs"]) == ["log_probs", "label"]
    assert about["method"] == {"name": "elb", "variant": "corrected", "settings": {}}
    assert about["network"] == "small"
    assert about["temperature"] == model.description.calibration.temperature
    assert about["decision"] == {"name": "mode", "of": "the method's own outputs"}
    assert (about["projected"], about["data"]) == (False, "biopsies")
    assert about["version"] == model.description.versions["onepeak"]


def test_a_file_of_pictures_says_how_sixteen_bits_become_eight():
    model = load(picture_run().folder)
    assert "16-bit images: the whole range is scaled" in read(model)["preprocessing"]["decode"]
    model.description = replace(model.description, bits=12)
    assert "16-bit images: 0 to 4095 is scaled" in read(model)["preprocessing"]["decode"]


def test_a_file_of_rows_names_columns_and_categories():
    model = table_model("ren", posterior="slopes", calibration=CALIBRATION)
    about = read(model, alpha=0.2, decide="median", project=True)
    assert about["preprocessing"]["columns"] == list(ENCODER.columns)
    assert about["preprocessing"]["categories"] == {"tone": ["pale", "2", "dark"]}
    assert about["method"]["settings"] == {"posterior": "slopes"}
    assert (about["temperature"], about["alpha"], about["projected"]) == (3.0, 0.2, True)
    assert about["decision"] == {"name": "median", "of": "the posterior in log_probs"}


def test_a_file_that_is_not_calibrated_says_so():
    about = read(table_model("po"))
    assert (about["temperature"], about["alpha"]) == (1.0, None)
    assert about["decision"]["name"] == "mean"
    assert "not calibrated" in about["notes"][0]


@pytest.mark.parametrize(
    ("resize", "words"),
    [
        (Resize(), "Images keep their size"),
        (Resize(scale=0.5), "multiplied by 0.5 and"),
        (Resize(short_side=64), "multiplied by 64 / min(height, width) and"),
        (
            Resize(short_side=532, only_enlarge=True, scale=0.5),
            "multiplied by max(1, 532 / min(height, width)) * 0.5 and",
        ),
    ],
)
def test_every_resize_has_words(resize, words):
    model = load(picture_run().folder)
    object.__setattr__(model.description, "resize", resize)  # of this model alone, which was just loaded
    assert words in read(model)["preprocessing"]["resize_in_words"]
