import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_files import write_images
from onepeak.data.images.batches import evaluation_batches
from onepeak.data.images.store.build import build_store
from onepeak.errors import InputError
from onepeak.serving import image_batches
from onepeak.serving.image_batches import SizeBatches


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


def test_places_without_a_image_count_as_waiting():
    waiting = SizeBatches(1000)
    assert list(waiting.add(0, square(4))) == []
    assert list(waiting.overdue(7999)) == []
    assert [[place for place, _ in batch] for batch in waiting.overdue(8000)] == [[0]]


def test_large_images_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(image_batches, "_MOST_BYTES", 3 * square(8).nbytes)
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


@pytest.mark.bad_input
def test_a_batch_of_none_is_refused():
    with pytest.raises(InputError, match="`batch_size` must be an integer >= 1, got 0"):
        SizeBatches(0)
