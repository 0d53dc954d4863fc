import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from image_files import write_images
from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.splits.copies import data_digest, item_digests
from onepeak.report.source import SIDE, Source, open_source, pixels, thumbnail


@pytest.fixture
def files(tmp_path):
    items, _ = write_images(tmp_path / "pictures", [(16, 24)] * 4)
    labels = np.array([0, 1, 1, 0])
    return Source(manifest=Manifest(name="files", items=items, labels=labels, classes=("low", "high")))


def test_a_image_file_is_found_by_its_path_whatever_was_left_out_before_it(files):
    paths = files.manifest.items.paths
    assert files.place(0, paths[2], 1) == 2
    assert files.place(0, "gone.png", 1) is None
    assert files.place(0, paths[2], 0) is None  # another label


def test_images_are_opened_and_those_that_have_gone_are_none(files):
    assert files.image(1).size == (24, 16)
    (files.manifest.items.root / files.manifest.items.paths[1]).unlink()
    assert files.image(1) is None


def test_images_are_shown_with_the_bits_that_the_runs_read(tmp_path):
    for name in ("0", "1"):
        (tmp_path / name).mkdir()
        Image.fromarray(np.full((4, 4), 4095, np.uint16)).save(tmp_path / name / "a.png")
    for recipe, shade in (({}, 16), ({"recipe": {"bits": 12}}, 255)):
        assert open_source({"data": str(tmp_path), **recipe}, "mine").image(0).getpixel((0, 0)) == (shade,) * 3


def test_generated_images_and_their_true_posteriors_are_found_by_their_number():
    source = Source(manifest=biopsies(6))
    place = source.place(4, None, int(source.manifest.labels[4]))
    assert np.array_equal(np.asarray(source.image(place)), source.manifest.items.pixels[4])
    items = np.array([4, 1])
    assert np.array_equal(source.true_log_probs(items), source.manifest.true_log_probs[items])
    assert source.place(6, None, 0) is None
    assert source.true_log_probs(np.array([6])) is None
    assert Source(manifest=replace(source.manifest, true_log_probs=None)).true_log_probs(np.array([0])) is None


def test_a_row_of_a_table_is_shown_as_text():
    rows = FeatureRows(
        columns=("size", "tone"),
        values=np.array([[1_700_000_001.5, 1], [np.nan, 0]]),
        categories={"tone": ("dark", "light")},
    )
    manifest = Manifest(name="rows", items=rows, labels=np.array([0, 1]), classes=("low", "high"))
    source = Source(manifest=manifest)
    assert source.features(0) == {"size": "1700000001.5", "tone": "light"}
    assert source.features(1) == {"size": "missing", "tone": "dark"}
    assert source.image(0) is None


def test_a_row_is_called_by_its_line_in_the_file_whatever_was_left_out_before_it(tmp_path):
    (tmp_path / "rows.csv").write_text("size,label\n1,0\n\n2,\n3,1\n5,0\n")
    source = open_source({"data": str(tmp_path / "rows.csv"), "skip_bad": True}, "rows")
    assert [source.name(item, None, label) for item, label in enumerate([0, 1, 0])] == ["row 2", "row 5", "row 6"]
    assert source.name(1, None, 0) == "sample 1"  # of another label, and so another row
    assert source.name(1, "a.png", 1) == "a.png"


def test_without_data_there_is_nothing():
    source = Source(manifest=None, reason="gone")
    assert source.place(0, None, 0) is None
    assert source.name(0, None, 0) == "sample 0"
    assert source.image(0) is None
    assert source.features(0) == {}
    assert source.true_log_probs(np.array([0])) is None


def test_the_data_are_opened_as_the_settings_say(tmp_path):
    for name in ("mild", "severe"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (8, 8)).save(tmp_path / name / "a.png")
    source = open_source({"data": str(tmp_path), "order": ["mild", "severe"]}, "mine")
    assert source.manifest.classes == ("mild", "severe")
    (tmp_path / "list.csv").write_text("path,label\nmild/a.png,0\ngone.png,1\nsevere/a.png,1\n")
    source = open_source({"data": str(tmp_path / "list.csv"), "skip_bad": True}, "list")
    assert len(source.manifest) == 2


def test_rows_of_a_table_that_is_no_longer_that_of_the_runs_are_not_shown(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("size,label\n1.5,0\ninf,1\n2.5,1\n3.5,0\n4.5,1\n")
    config = {"data": str(file), "skip_bad": True}
    before = open_source(config, "rows").manifest  # what older records do not know is not asked
    config["record"] = {"data": data_digest(before, item_digests(before.items))}
    source = open_source(config, "rows")
    assert source.features(source.place(1, None, 1)) == {"size": "2.5"}

    text = file.read_text()
    for other in (
        text.replace("inf", "9.5"),  # which now is the row at 1, with the same label
        text.replace("size", "weight"),
    ):
        file.write_text(other)
        source = open_source(config, "rows")
        assert source.place(1, None, 1) is None
        assert source.reason == "The data differ from those of the runs, so none of their rows is shown."


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (None, "has no config.toml that says where the data lie"),
        ({"data": "/nowhere/at/all"}, "could not be opened again: There is no file or folder '/nowhere/at/all'"),
    ],
)
def test_data_that_are_not_there_are_a_sentence(config, reason):
    source = open_source(config, "mine")
    assert source.manifest is None
    assert reason in source.reason


def test_a_large_image_becomes_a_small_one_of_the_same_shape_and_a_small_one_stays():
    address = thumbnail(Image.new("RGB", (800, 400), "red"))
    head, _, code = address.partition(",")
    assert head == "data:image/jpeg;base64"
    image = Image.open(io.BytesIO(base64.b64decode(code)))
    assert image.size == (SIDE, SIDE // 2)
    assert np.abs(np.asarray(image).mean(axis=(0, 1)) - [254, 0, 0]).max() < 3

    given = Image.new("L", (8, 6), 7)
    assert pixels(given).shape == (6, 8, 3)
    assert (given.size, given.mode) == ((8, 6), "L")
