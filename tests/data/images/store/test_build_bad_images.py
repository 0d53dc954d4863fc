"""A store is built of images some of which cannot be read."""

import os
import pickle

import pytest

from data.images.store.looked_at import folders, stored
from onepeak.data.images.store.build import build_store
from onepeak.data.images.store.failures import StoreError, UnreadableImagesError, UnreadableImagesWarning


def spoil(items):
    """Makes six of eight files bad, each in its own way."""
    root = items.root
    (root / "1.png").write_bytes(b"")
    (root / "2.png").write_bytes((root / "2.png").read_bytes()[:-30])
    (root / "3.png").write_text("not a image")
    (root / "4.png").unlink()
    (root / "5.png").unlink()
    (root / "5.png").mkdir()
    (root / "6.png").unlink()
    os.mkfifo(root / "6.png")


REASONS = {
    "1.png": r"the file is empty \(0 bytes\)",
    "2.png": "cut off or damaged: ",
    "3.png": "not an image in a known format",
    "4.png": "there is no such file",
    "5.png": "this is a folder or a device, not a file",
    "6.png": "this is a folder or a device, not a file",
}


def test_all_bad_files_are_listed_in_one_error(images, tmp_path):
    items, _ = images(*[(9, 9)] * 8)
    spoil(items)
    with pytest.raises(UnreadableImagesError, match="6 of 8 images cannot be read:") as caught:
        build_store(items, cache_dir=tmp_path / "cache", workers=2)
    for path, reason in REASONS.items():
        assert caught.match(f"\n  {path}: {reason}")
    assert caught.match(r"Repair or remove them, or leave them out with skip_bad=True\.")
    assert [(bad.item, bad.path) for bad in caught.value.bad] == [(n, f"{n}.png") for n in range(1, 7)]
    assert pickle.loads(pickle.dumps(caught.value)).bad == caught.value.bad


def test_bad_files_can_be_left_out_and_that_is_said_every_time(images, tmp_path):
    items, pixels = images(*[(9, 9)] * 8)
    spoil(items)
    with pytest.raises(UnreadableImagesError):
        build_store(items, cache_dir=tmp_path / "cache", workers=1)
    for _ in range(2):
        with pytest.warns(UnreadableImagesWarning, match=r"(?s)6 of 8 images .*4\.png.*They were left out"):
            store = build_store(items, cache_dir=tmp_path / "cache", workers=1, skip_bad=True)
    assert store.kept.tolist() == [0, 7]
    assert len(store) == 2
    assert (stored(store, 1) == pixels[7]).all()
    with pytest.raises(UnreadableImagesError, match=r"6 of 8 images"):
        build_store(items, cache_dir=tmp_path / "cache", workers=1)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_forbidden_file_is_bad_until_it_is_allowed(images, tmp_path):
    items, _ = images((9, 9), (9, 9))
    (items.root / "1.png").chmod(0)
    with pytest.raises(UnreadableImagesError, match=r"1\.png: the file may not be read: Permission denied"):
        build_store(items, cache_dir=tmp_path / "cache", workers=1)
    (items.root / "1.png").chmod(0o600)
    assert len(build_store(items, cache_dir=tmp_path / "cache", workers=1)) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_a_disk_that_fails_stops_the_build(images, tmp_path, workers):
    items, _ = images((9, 9), (9, 9))
    (items.root / "1.png").unlink()
    (items.root / "1.png").symlink_to("1.png")  # no disk gives a file that leads to itself
    with pytest.raises(StoreError, match=r"1\.png could not be read this time: Too many levels"):
        build_store(items, cache_dir=tmp_path / "cache", workers=workers, skip_bad=True)
    assert folders(tmp_path / "cache") == []


def test_a_data_set_of_bad_files_only_is_an_error_even_when_they_may_be_left_out(images, tmp_path):
    items, _ = images((9, 9))
    (items.root / "0.png").write_bytes(b"")
    with pytest.raises(UnreadableImagesError, match="1 of 1 images cannot be read"):
        build_store(items, cache_dir=tmp_path / "cache", workers=1, skip_bad=True)
    assert folders(tmp_path / "cache") == []
