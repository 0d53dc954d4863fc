import numpy as np
import pytest
import torch

from onepeak.data.source import DataSource
from onepeak.data.splits import Split, find_leaks, item_digests, make_splits, refuse_leaks
from onepeak.data.texts import known_encoder, with_features
from onepeak.errors import InputError
from onepeak.experiment.plan import Experiment, MethodEntry
from onepeak.experiment.prepared import open_experiment
from onepeak.networks.text_encoder import TextEncoder
from onepeak.report.source import Source
from tiny_encoder import write_encoder, write_reviews

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return TextEncoder(write_encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture
def reviews(tmp_path):
    return DataSource(write_reviews(tmp_path / "reviews.csv"), text="review", label="stars")


def test_texts_are_read_and_other_columns_only_where_they_are_named(reviews, tmp_path):
    data = reviews.open()
    assert data.items.columns == ()
    assert (data.items.texts.column, len(data.items.texts.values)) == ("review", 150)
    assert data.notes[-1] == "left out 2 columns beside the texts: author, price"
    beside = DataSource(reviews.data, text="review", label="stars", columns=["price"], group="author").open()
    assert (beside.items.columns, len(set(beside.groups))) == (("price",), 50)


def test_features_of_texts_follow_the_other_columns_and_are_computed_once(reviews, encoder, tmp_path, monkeypatch):
    data = DataSource(reviews.data, text="review", label="stars", columns=["price"]).open()
    rows, notes = with_features(data.items, encoder, cache=tmp_path / "cache", quiet=True)
    assert rows.columns == ("price", *(f"review {number}" for number in range(1, 17)))
    assert rows.plain_columns == ("price",)
    features, _ = encoder.features(data.items.texts.values)
    np.testing.assert_allclose(rows.values[:, 1:], features, atol=1e-6)
    assert "longer than the encoder takes at once, read in up to 2 parts" in notes[1]
    monkeypatch.setattr(TextEncoder, "features", None)
    again, _ = with_features(data.items, encoder, cache=tmp_path / "cache", quiet=True)
    np.testing.assert_array_equal(again.values, rows.values)
    assert item_digests(rows) == item_digests(data.items)  # known by their texts


def test_rows_without_a_text_are_told(tmp_path):
    (tmp_path / "a.csv").write_text("review,stars\ngood,4\n,3\nfine,3\n \nbad,1\n")
    source = DataSource(tmp_path / "a.csv", text="review", label="stars")
    with pytest.raises(InputError, match="Every row must have a text in 'review', 1 row without one: 3"):
        source.open()
    skipped = DataSource(tmp_path / "a.csv", text="review", label="stars", skip_bad=True).open()
    assert skipped.items.texts.values == ("good", "fine", "bad")


def test_copies_of_a_text_stay_in_one_part_however_they_are_written(tmp_path):
    words = [f"text number {number // 2}" if number % 2 else f"TEXT  Number {number // 2}" for number in range(60)]
    rows = [f"{word},{n % 3},{n * 7 % 61}.5" for n, word in enumerate(words)]  # whatever number is beside them
    (tmp_path / "a.csv").write_text("\n".join(["review,stars,price", *rows]))
    data = DataSource(tmp_path / "a.csv", text="review", label="stars", columns=["price"]).open()
    digests = item_digests(data.items)
    assert len(set(digests)) == 60
    runs = make_splits(data)
    assert refuse_leaks(data, runs, digests=digests) == []
    assert runs[0].notes == (
        "30 texts with copies, 60 samples in all: the copies of a text are in the part of the first of them",
    )
    parts = {"train": np.array([0, 2]), "valid": np.array([3]), "test": np.array([1])}
    leaks = find_leaks(data, Split(**parts, protocol="mine"), digests=digests)
    assert [leak.kind for leak in leaks] == ["text", "text"]


def test_texts_are_encoded_on_the_device_that_was_asked_for(reviews, encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("onepeak.experiment.prepared.find_device", torch.device)
    plan = Experiment(
        name="texts", source=reviews, methods=(MethodEntry(name="ce"),), network={"backbone": str(encoder.folder)}
    )
    with pytest.raises(RuntimeError, match="meta tensor"):  # a device without values
        open_experiment(plan, cache=tmp_path / "cache", quiet=True, device="meta")


def test_a_changed_encoder_is_refused(reviews, tmp_path):
    folder = write_encoder(tmp_path / "encoder")
    rows, _ = with_features(reviews.open().items, TextEncoder(folder), cache=tmp_path / "cache", quiet=True)
    assert known_encoder(rows.texts.encoding).folder == folder
    known_encoder.cache_clear()
    write_encoder(folder, seed=1)
    with pytest.raises(InputError, match="is not the one that the model was trained with"):
        known_encoder(rows.texts.encoding)


def test_reports_show_the_text_of_a_sample(reviews):
    source = Source(manifest=DataSource(reviews.data, text="review", label="stars", columns=["price"]).open())
    assert list(source.features(3)) == ["review", "price"]
    assert source.features(3)["review"] == source.manifest.items.texts.values[3]
