import io
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from data.images.store.looked_at import folders, stored
from image_files import in_twelve_bits
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.build import build_store, progress_of
from onepeak.data.images.store.failures import StoreError
from onepeak.data.images.store.images import ImageStore
from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles
from onepeak.data.splits.copies import item_digests
from onepeak.errors import InputError


def test_images_of_any_size_come_back_as_they_are(images, tmp_path):
    items, pixels = images((5, 7), (8, 3), (1, 1), (5, 7), (6, 2))
    store = build_store(items, cache_dir=tmp_path / "cache", workers=1)
    assert store.kept.tolist() == [0, 1, 2, 3, 4]
    assert store.sizes.tolist() == [[5, 7], [8, 3], [1, 1], [5, 7], [6, 2]]
    for position, values in enumerate(pixels):
        assert (stored(store, position) == values).all()
    store.verify()
    assert store.digests == item_digests(items)  # as those that find copies in splits
    small = build_store(items, Resize(short_side=2), cache_dir=tmp_path / "cache", workers=1)
    expected = Image.fromarray(pixels[1]).resize((2, 5), Image.Resampling.BILINEAR)
    assert (stored(small, 1) == np.asarray(expected)).all()


def test_the_number_of_workers_changes_no_byte(images, tmp_path):
    items, _ = images(*[(9 + number % 5, 11) for number in range(23)])
    Image.fromarray(in_twelve_bits(np.arange(99, dtype=np.uint8).reshape(9, 11))).save(items.root / "0.png")
    stores = [build_store(items, Resize(scale=0.7), bits=12, cache_dir=tmp_path / str(n), workers=n) for n in (1, 3)]
    assert (stores[0].pixels == stores[1].pixels).all()
    assert stores[0].digests == stores[1].digests


def test_images_in_memory_are_stored_like_files(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (4, 6, 8, 3), np.uint8)
    items = ImageArrays(pixels=pixels[:, ::2])  # not contiguous
    store = build_store(items, cache_dir=tmp_path)
    assert (np.stack([stored(store, n) for n in range(4)]) == pixels[:, ::2]).all()
    assert store.digests == item_digests(items)
    half = build_store(items, Resize(scale=0.5), cache_dir=tmp_path)
    assert half.sizes.tolist() == [[2, 4]] * 4
    half.verify()


def test_a_second_call_opens_what_the_first_one_wrote_and_another_recipe_is_another_store(images, tmp_path):
    items, _ = images((4, 4), (5, 5))
    calls = []
    for _ in range(2):
        store = build_store(
            items, cache_dir=tmp_path / "cache", workers=1, progress=lambda done, total: calls.append((done, total))
        )
    assert calls == [(1, 2), (2, 2)], "the second call decodes nothing"
    assert folders(tmp_path / "cache") == [store.folder.name]
    build_store(items, Resize(scale=0.5), cache_dir=tmp_path / "cache", workers=1)
    assert len(folders(tmp_path / "cache")) == 2


def test_an_edited_file_gives_a_new_store_and_leaves_the_old_one(images, tmp_path):
    items, _ = images((4, 4), (5, 5))
    old = build_store(items, cache_dir=tmp_path / "cache", workers=1)
    path = items.root / "1.png"
    status = path.stat()
    Image.new("RGB", (5, 5), "red").save(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))  # a nanosecond is enough
    new = build_store(items, cache_dir=tmp_path / "cache", workers=1)
    assert stored(new, 1).tolist() == [[[255, 0, 0]] * 5] * 5
    assert new.digests != old.digests
    old.verify()


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "`workers` must be an integer >= 1, got 0"),
        ({"items": ImageFiles(root=Path(), paths=())}, "`items` must hold at least one image, got none"),
        ({"items": FeatureRows(columns=("a",), values=np.zeros((1, 1)))}, "`items` must be ImageFiles or ImageArrays"),
    ],
)
def test_a_wrong_argument_says_what_is_allowed(images, tmp_path, options, message):
    items, _ = images((2, 2))
    with pytest.raises(InputError, match=message):
        build_store(**{"items": items, "cache_dir": tmp_path} | options)

    with pytest.raises(InputError, match=r"`cache_dir` must be a folder that can be written to, got .*0\.png"):
        build_store(items, cache_dir=items.root / "0.png")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_is_said_in_a_sentence_and_leaves_nothing_behind(images, processes, tmp_path, workers):
    items, _ = images(*[(60, 60)] * 8)  # 86 kB of pixels
    ((status, output),) = processes(f"""
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        items = ImageFiles(root=Path({str(items.root)!r}), paths={items.paths!r})
        try:
            build_store(items, cache_dir=Path({str(tmp_path / "cache")!r}), workers={workers})
        except StoreError as error:
            print(error)
    """)
    assert "No room for the image store in" in output
    assert "free some space, or give another `cache_dir`. Nothing was left behind." in output
    assert status == 0
    assert folders(tmp_path / "cache") == []


def test_a_store_damaged_from_outside_is_built_again(images, tmp_path):
    items, pixels = images((6, 6), (7, 7))
    store = build_store(items, cache_dir=tmp_path / "cache", workers=1)
    for name, spoiled in [("pixels.bin", b"12"), ("index.npz", b"PK"), ("store.json", b"{"), ("store.json", b"[]")]:
        (store.folder / name).write_bytes(spoiled)
        again = build_store(items, cache_dir=tmp_path / "cache", workers=1)
        assert (stored(again, 1) == pixels[1]).all()


def test_a_file_that_changes_during_the_build_stops_it(images, tmp_path):
    items, _ = images(*[(6, 6)] * 3)

    def touch(done, total):
        os.utime(items.root / "2.png", ns=(0, 0))

    with pytest.raises(StoreError, match=r"1 files changed while the store was built, 2\.png among them"):
        build_store(items, cache_dir=tmp_path / "cache", workers=1, progress=touch)
    assert folders(tmp_path / "cache") == []


def test_an_interrupted_build_leaves_nothing_behind(images, tmp_path):
    items, _ = images(*[(6, 6)] * 40)

    def interrupt(done, total):
        raise KeyboardInterrupt

    for workers in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            build_store(items, cache_dir=tmp_path / "cache", workers=workers, progress=interrupt)
        assert folders(tmp_path / "cache") == []


def test_a_store_travels_to_another_process_by_its_folder(images, tmp_path):
    items, _ = images((6, 6), (7, 7))
    store = build_store(items, cache_dir=tmp_path / "cache", workers=1)
    sent = pickle.dumps(store)
    assert len(sent) < 1000
    arrived = pickle.loads(sent)
    assert isinstance(arrived, ImageStore)
    assert (arrived.pixels == store.pixels).all()


def test_memory_stays_bounded_while_a_large_store_is_built(processes, tmp_path):
    """A store of 60 MB, in a process that takes at most 40 MB more for it."""
    Image.new("RGB", (100, 100), "red").save(tmp_path / "one.png")
    ((status, output),) = processes(f"""
        import resource
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        items = ImageFiles(root=Path({str(tmp_path)!r}), paths=("one.png",) * 20)
        store = build_store(items, Resize(scale=10.0), cache_dir=Path({str(tmp_path)!r}) / "cache", workers=1)
        assert store.num_bytes == 20 * 1000 * 1000 * 3
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """)
    assert status == 0, output
    assert int(output) * (1 if sys.platform == "darwin" else 1024) < 40e6


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("progress", "stream", "shown"),
    [(None, Terminal, True), (None, io.StringIO, False), (True, io.StringIO, True), (False, Terminal, False)],
)
def test_a_bar_is_shown_on_a_terminal_or_when_asked_for(monkeypatch, progress, stream, shown):
    monkeypatch.setattr(sys, "stderr", stream())
    with progress_of(progress, title="Decoding", total=3) as advance:
        advance(2)
    assert ("Decoding" in sys.stderr.getvalue()) == shown
