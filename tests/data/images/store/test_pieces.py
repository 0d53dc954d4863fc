import numpy as np
import pytest
import torch

from onepeak.data.images.store.build import (
    build_store,
    content_key,
    folder_of_sent,
    pieces_of,
    same_store,
    store_of_pieces,
)
from onepeak.data.images.store.failures import StoreError
from onepeak.data.manifest import ImageArrays


@pytest.fixture
def store(images, tmp_path):
    items, _ = images((5, 7), (4, 4), (9, 2))
    return build_store(items, cache_dir=tmp_path / "here", workers=1, progress=False)


def never():
    raise AssertionError("no piece should be asked for")
    yield


@pytest.mark.parametrize("size", [1, 50, 10_000])
def test_a_store_put_together_again_is_the_same_whatever_the_pieces(store, tmp_path, size):
    pieces = list(pieces_of(store, size=size))
    assert len(pieces) == -(-store.num_bytes // size)
    sent = store_of_pieces(store.index, pieces, cache_dir=tmp_path / "there")
    assert torch.equal(sent.pixels, store.pixels)
    assert sent.digests == store.digests


def test_what_was_sent_before_is_not_asked_for_again(store, tmp_path):
    store.folder.rename(tmp_path / "hidden")  # the folder may be gone
    first = store_of_pieces(store.index, pieces_of(store), cache_dir=tmp_path / "there")
    assert first.folder == folder_of_sent(store.index, tmp_path / "there")
    assert torch.equal(store_of_pieces(store.index, never(), cache_dir=tmp_path / "there").pixels, store.pixels)


def test_pieces_that_are_missing_or_were_changed_on_their_way_give_no_store(store, tmp_path):
    with pytest.raises(StoreError, match="is damaged"):
        store_of_pieces(store.index, list(pieces_of(store, size=50))[:-1], cache_dir=tmp_path / "there")
    (whole,) = pieces_of(store)
    with pytest.raises(StoreError, match="is damaged: 1 image not as written"):
        store_of_pieces(store.index, [whole[:-1] + bytes([whole[-1] ^ 1])], cache_dir=tmp_path / "there")
    sent = store_of_pieces(store.index, [whole], cache_dir=tmp_path / "there")
    assert torch.equal(sent.pixels, store.pixels)


def test_a_folder_holds_the_same_store_only_with_the_same_pixels(store, tmp_path):
    assert torch.equal(same_store(store.folder, store.index).pixels, store.pixels)
    assert same_store(tmp_path / "nowhere", store.index) is None
    pixels = np.zeros((2, 4, 4, 3), np.uint8)
    one = build_store(ImageArrays(pixels=pixels), cache_dir=tmp_path / "one", progress=False)
    assert same_store(one.folder, store.index) is None
    pixels[1, 2, 3] = 255
    other = build_store(ImageArrays(pixels=pixels), cache_dir=tmp_path / "other", progress=False)
    assert content_key(one.index) != content_key(other.index)
    assert same_store(one.folder, other.index) is None
