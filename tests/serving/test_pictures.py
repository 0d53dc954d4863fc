import os

import numpy as np
import pytest
import torch
from PIL import Image

from onepeak.data.decode import UnreadablePictureError
from onepeak.data.resize import Resize
from onepeak.data.store import build_store
from onepeak.errors import InputError
from onepeak.serving.pictures import pixels_of, separate
from picture_files import write_pictures

SAME = Resize()


def test_a_file_has_the_pixels_of_the_store(tmp_path):
    items, _ = write_pictures(tmp_path / "pictures", [(50, 40), (30, 64)])
    resize = Resize(short_side=24, scale=0.75)
    store = build_store(items, resize, cache_dir=tmp_path / "cache", workers=1)
    for position, name in enumerate(items.paths):
        expected = store[position].permute(1, 2, 0).numpy()
        assert (pixels_of(items.root / name, resize) == expected).all()


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "1", "CMYK", "I;16"])
def test_an_opened_picture_has_the_pixels_of_its_file(mode, tmp_path):
    path = tmp_path / "picture.tif"
    values = np.random.default_rng(0).integers(0, 256, (9, 7), np.uint8)
    picture = (
        Image.fromarray(values.astype(np.uint16) * 257) if mode == "I;16" else Image.fromarray(values).convert(mode)
    )
    picture.save(path)
    with Image.open(path) as opened:
        assert opened.mode == mode
        assert (pixels_of(opened, SAME) == pixels_of(path, SAME)).all()


def test_colours_may_come_first_or_last():
    last = np.random.default_rng(0).integers(0, 256, (5, 4, 3), np.uint8)
    first = np.moveaxis(last, -1, 0)
    for picture in (last, first, torch.from_numpy(last), torch.from_numpy(first.copy())):
        assert (pixels_of(picture, SAME) == last).all()
    square = np.random.default_rng(0).integers(0, 256, (3, 3, 3), np.uint8)
    assert (pixels_of(square, SAME) == square).all()


def test_grey_is_repeated_as_a_files_grey_is():
    grey = np.random.default_rng(0).integers(0, 256, (5, 4, 1), np.uint8)
    for picture in (grey, np.moveaxis(grey, -1, 0), torch.from_numpy(grey)):
        assert (pixels_of(picture, SAME) == grey.repeat(3, axis=-1)).all()
    first = np.random.default_rng(0).integers(0, 256, (3, 5, 1), np.uint8)  # one pixel wide
    assert (pixels_of(first, SAME) == np.moveaxis(first, 0, -1)).all()


def test_a_batch_is_separated_and_one_picture_is_not():
    batch = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
    assert [picture.tolist() for picture in separate(batch)] == batch.tolist()
    assert len(separate(torch.zeros(5, 3, 4, 4, dtype=torch.uint8))) == 5
    assert len(separate(batch[0])) == 1
    assert separate(("a.png", "b.png")) == ["a.png", "b.png"]


@pytest.mark.bad_input
def test_a_cut_off_picture_is_refused_when_its_pixels_are_asked_for(tmp_path):
    path = tmp_path / "cut.jpg"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:2000])
    with Image.open(path) as opened, pytest.raises(UnreadablePictureError, match="cut off or damaged"):
        pixels_of(opened, SAME)


@pytest.mark.bad_input
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(UnreadablePictureError, match="this is a folder or a device, not a file"):
        pixels_of(tmp_path / "pipe.png", SAME)


@pytest.mark.bad_input
def test_arrays_that_are_no_pictures_are_refused():
    with pytest.raises(InputError, match=r"got \(4, 4, 4\) for one image"):
        pixels_of(np.zeros((4, 4, 4), np.uint8), SAME)
    with pytest.raises(InputError, match=r"got \(0, 4, 3\) for one image"):
        pixels_of(np.zeros((0, 4, 3), np.uint8), SAME)
    with pytest.raises(InputError, match="must be uint8, 0 to 255, got float32"):
        pixels_of(torch.zeros(4, 4, 3), SAME)
