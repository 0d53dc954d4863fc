import numpy as np
import pytest
import torch

from onepeak.data.images.store import images
from onepeak.data.images.store.build import build_store
from onepeak.data.images.store.failures import StoreError
from onepeak.data.images.store.images import PIXELS, open_store
from onepeak.data.images.store.index import FORMAT
from onepeak.data.manifest import ImageArrays


@pytest.fixture
def store(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (3, 4, 5, 3), np.uint8)
    return build_store(ImageArrays(pixels=pixels), cache_dir=tmp_path)


def test_an_image_is_a_view_with_its_colours_first(store):
    image = store[1]
    assert image.shape == (3, 4, 5)
    assert image.dtype == torch.uint8
    assert image.stride() == (1, 15, 3)
    assert image.data_ptr() == store.pixels.data_ptr() + 60
    assert (store[-1] == store[2]).all()
    assert (store[np.int64(1)] == image).all()


def test_writing_into_a_view_never_reaches_the_disk(store):
    before = store[0].clone()
    store[0].zero_()
    assert (open_store(store.folder)[0] == before).all()
    open_store(store.folder).verify()


@pytest.mark.bad_input
@pytest.mark.parametrize("position", [3, -4])
def test_a_position_outside_the_store_is_named(store, position):
    with pytest.raises(IndexError, match=rf"`position` must be from 0 to 2, got {position}"):
        store[position]


def test_a_flipped_bit_is_found_and_the_image_named(store):
    path = store.folder / PIXELS
    content = bytearray(path.read_bytes())
    content[70] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"1 image not as written \(the first at position 1\); delete it and build"):
        open_store(store.folder).verify()


def test_a_folder_that_is_no_store_is_refused_with_the_fix(tmp_path, store):
    with pytest.raises(StoreError, match=r"is not a complete image store \(.*\); delete it and build it again"):
        open_store(tmp_path / "nothing")
    with (store.folder / PIXELS).open("ab") as file:
        file.write(b"1")
    with pytest.raises(StoreError, match="is damaged: 181 bytes of pixels where 180 were written"):
        open_store(store.folder)
    header = store.folder / "store.json"
    header.write_text(header.read_text().replace(f'"format": {FORMAT}', '"format": 99'))
    with pytest.raises(StoreError, match=f"has format 99, this version reads {FORMAT}; build it again"):
        open_store(store.folder)


def test_a_store_takes_no_more_than_half_of_the_memory_that_is_free(store, monkeypatch):
    """Asked of a device without memory, whose free bytes are told to be what the test needs."""
    with pytest.raises(StoreError, match="The free memory of 'meta' cannot be queried; leave the store on the CPU"):
        store.to("meta")
    assert store.fits("cpu")
    assert store.to("cpu") is store
    monkeypatch.setattr(images, "_free_memory", lambda _: 2 * store.num_bytes)
    assert store.fits("meta")
    assert store.to("meta").device.type == "meta"
    monkeypatch.setattr(images, "_free_memory", lambda _: 2 * store.num_bytes - 1)
    assert not store.fits("meta")
    with pytest.raises(StoreError, match=r"more than half of the .* GiB free on meta: leave it on the CPU"):
        store.to("meta")


@pytest.mark.gpu
def test_a_store_moves_to_the_gpu_and_back(store):
    resident = store.to("cuda")
    assert resident.device.type == "cuda"
    assert resident.to("cuda") is resident
    assert (resident[1].cpu() == store[1]).all()
    resident.verify()
    assert (resident.to("cpu").pixels == store.pixels).all()
