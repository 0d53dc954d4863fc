import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from image_files import write_images
from onepeak.data.images.augment import evaluation_batches
from onepeak.data.images.store.build import build_store
from onepeak.errors import InputError
from onepeak.serving import load, stream
from onepeak.serving import predict as serving_predict
from onepeak.serving.predict import SizeBatches, unknown_notes, unlike_notes
from onepeak.serving.table_rows import rows_of_file
from trained_models import image_run, table_run


@pytest.fixture
def images():
    """Images of three shapes."""
    pixels = image_run().manifest.items.pixels
    return [pixels[number][: 64 - 8 * (number % 3)] for number in range(24)]


@pytest.mark.parametrize("batch_size", [1, 7, 32])
def test_rows_come_in_order_with_what_predict_says(model, images, batch_size):
    rows = list(stream(model, images, batch_size=batch_size))
    said = model.predict(images, batch_size=batch_size)
    assert rows == list(said.rows())
    assert [row.source for row in rows] == list(range(24))


def test_bad_files_are_rows_with_their_error_and_the_others_are_answered(model, images, tmp_path):
    good = tmp_path / "good.png"
    Image.fromarray(images[0]).save(good)
    Image.fromarray(images[1]).save(tmp_path / "whole.jpg")
    whole = (tmp_path / "whole.jpg").read_bytes()
    (tmp_path / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.png").write_text("no image")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "folder.png").mkdir()
    names = ["cut.jpg", "good.png", "text.png", "missing.png", "good.png", "empty.png", "folder.png", "nul\0.png"]
    rows = list(stream(model, [tmp_path / name for name in names], batch_size=2))
    assert [row.source for row in rows] == [str(tmp_path / name) for name in names]
    errors = [row.error for row in rows]
    assert errors[1] is errors[4] is None
    assert rows[1].predicted_index == rows[4].predicted_index == model.predict(good).predicted_index.item()
    assert errors[0].startswith("cut off or damaged: ")
    assert errors[2].startswith("not an image in a known format")
    assert errors[3] == "there is no such file"
    assert errors[5] == "the file is empty (0 bytes)"
    assert errors[6] == "this is a folder or a device, not a file"
    assert errors[7].startswith("there is no such file")
    assert all(row.predicted_index is row.log_probs is row.soi is row.unimodal is None for row in rows if row.error)


def test_a_size_that_the_network_cannot_take_is_an_error_of_its_row(model, images, monkeypatch):
    forward = model.network.backbone.forward

    def small_only(inputs):
        if inputs.shape[2] > 48:
            raise RuntimeError("out of memory\nand much more")
        return forward(inputs)

    monkeypatch.setattr(model.network.backbone, "forward", small_only)
    tall = np.zeros((96, 48, 3), np.uint8)
    rows = list(stream(model, [images[0], tall, images[0]]))
    assert [row.error for row in rows] == [None, "the network cannot take 96 x 48 pixels: out of memory", None]


def test_a_posterior_that_is_no_number_is_an_error_of_its_row_alone(model, images, monkeypatch):
    forward = model.network.head.forward
    monkeypatch.setattr(
        model.network.head, "forward", lambda images: forward(images).index_fill(0, torch.tensor(1), torch.nan)
    )
    rows = list(stream(model, [images[0], images[3], images[6]]))
    assert [row.error is None for row in rows] == [True, False, True]
    assert rows[1].error.startswith("the model has no posterior for it")
    with pytest.raises(InputError, match="item 1 of the inputs has no prediction: the model has no posterior for it"):
        model.predict([images[0], images[3], images[6]])


@pytest.mark.parametrize("batch_size", [1, 2, 4096])
def test_bad_and_empty_rows_of_a_table_are_rows_with_their_error(tmp_path, batch_size):
    table_model = load(table_run().folder)
    (tmp_path / "rows.csv").write_text("tone,size\n1,0.5\n1,big\n,\ndark,\n")
    table = rows_of_file(tmp_path / "rows.csv", table_model.description.table)
    rows = list(stream(table_model, table, batch_size=batch_size))
    said = table_model.predict({"tone": ["1", "dark"], "size": [0.5, None]}, batch_size=batch_size)
    assert [row.source for row in rows] == [2, 3, 4, 5]
    assert [rows[0].predicted_index, rows[3].predicted_index] == said.predicted_index.tolist()
    assert rows[1].error == "`size` must be a number, got 'big'"
    assert rows[2].error.startswith("it has no value in any column of the model")
    assert all(row.predicted_index is row.log_probs is row.lower is row.soi is None for row in rows[1:3])


def test_rows_come_while_later_images_are_unread(model, images):
    taken = []

    def posterior_options():
        for number, image in enumerate(images):
            taken.append(number)
            yield image

    rows = stream(model, posterior_options(), batch_size=2)
    assert taken == []
    next(rows)
    assert len(taken) <= 2 * 3 + 1
    missing = (f"missing-{number}.png" for number in range(10_000))
    assert next(stream(model, missing)).source == "missing-0.png"
    assert next(missing) == "missing-1.png", "many bad files do not pile up"


def test_memory_does_not_grow_with_the_number_of_images(model):
    def peak(num_images):
        sides = np.random.default_rng(0).integers(48, 60, num_images)
        tracemalloc.start()
        count = sum(1 for _ in stream(model, (np.zeros((48, side, 3), np.uint8) for side in sides), batch_size=2))
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count == num_images
        return highest

    peak(10)  # whatever is made once
    assert peak(48) < 2 * peak(16)


@pytest.mark.bad_input
def test_a_model_of_a_table_and_a_batch_of_none_are_refused_at_once(model):
    with pytest.raises(InputError, match="`model` must fit the samples, got a model of a table and images"):
        stream(load(table_run().folder), [])
    with pytest.raises(InputError, match="`batch_size` must be an integer >= 1, got 0"):
        stream(model, [], batch_size=0)


def square(side):
    return np.zeros((side, side, 3), np.uint8)


def batches_of(sides, batch_size):
    waiting = SizeBatches(batch_size)
    ready = [batch for place, side in enumerate(sides) for batch in waiting.add(place, square(side))]
    return [*ready, *waiting.rest()]


@given(st.lists(st.integers(1, 5), max_size=60), st.integers(1, 4))
def test_every_image_comes_once_among_its_equals(sides, batch_size):
    batches = batches_of(sides, batch_size)
    assert sorted(place for batch in batches for place, _ in batch) == list(range(len(sides)))
    for batch in batches:
        assert 1 <= len(batch) <= batch_size
        assert len({sides[place] for place, _ in batch}) == 1


@given(st.lists(st.integers(1, 40), max_size=120), st.integers(1, 3))
def test_no_image_waits_for_more_than_eight_batches(sides, batch_size):
    waiting = SizeBatches(batch_size)
    gone = set()
    for place, side in enumerate(sides):
        gone |= {each for batch in waiting.add(place, square(side)) for each, _ in batch}
        assert set(range(place + 1 - 8 * batch_size)) <= gone


def test_large_images_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(serving_predict, "_MOST_BYTES", 3 * square(8).nbytes)
    waiting = SizeBatches(100)
    sizes = [[len(batch) for batch in waiting.add(place, square(8))] for place in range(8)]
    assert sizes == [[], [], [], [4], [], [], [], [4]]


def test_the_batches_are_those_of_an_evaluation_in_training(tmp_path):
    sizes = [(8, 8), (8, 9), (8, 8), (8, 8), (8, 9), (8, 9), (8, 8), (8, 8)]
    items, pixels = write_images(tmp_path / "pictures", sizes)
    store = build_store(items, cache_dir=tmp_path / "cache", workers=1)
    expected = {tuple(places.tolist()) for places, _ in evaluation_batches(store, range(8), batch_size=2)}
    waiting = SizeBatches(2)
    ready = [batch for place, each in enumerate(pixels) for batch in waiting.add(place, each)]
    assert {tuple(place for place, _ in batch) for batch in [*ready, *waiting.rest()]} == expected


UNLIKE = "unlike the training data, do not rely on such predictions: "
IMAGES = [(f"{number}.png", ("contrast",)) for number in range(11)] + [
    ("usual.png", ()),
    ("b.png", ("grain", "contrast")),
]
FIRST = ", ".join(f"{number}.png" for number in range(10))


def test_samples_unlike_the_training_are_counted_and_the_first_are_named():
    for samples, source_name, told in (
        (IMAGES, "path", f"12 of 1,200 images, by contrast (12), grain (1): {FIRST} and 2 more"),
        ([(0, ("x",)), ("b.png", ("x",))], "item", "2 of 1,200 images, by x (2): item 0, b.png"),
        ([(2, ("x",)), (7, ("x",))], "line", "2 of 1,200 rows, by x (2): line 2, line 7"),
        ([("a", ("x",)), (7, ("x",))], "row", "2 of 1,200 rows, by x (2): row a, row 7"),
    ):
        assert unlike_notes(samples, 1200, source_name=source_name) == (UNLIKE + told,)
    assert unlike_notes([("a.png", ()), ("b.png", None)], 1200, source_name="path") == ()


def test_a_model_that_cannot_tell_what_is_unlike_its_training_says_so(model, table_model):
    assert unknown_notes(model.description) == unknown_notes(table_model.description) == ()
    (note,) = unknown_notes(replace(model.description, image_range=None))
    assert "cannot check whether images" in note
    table = replace(table_model.description.table, lowest=(), highest=())
    (note,) = unknown_notes(replace(table_model.description, table=table))
    assert "cannot check whether numbers" in note
