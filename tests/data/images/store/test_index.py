import os
import random
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from onepeak.data.images.resize import Resize
from onepeak.data.images.store.build import build_store
from onepeak.data.images.store.failures import UnreadableImagesWarning
from onepeak.data.images.store.images import open_store
from onepeak.data.images.store.index import (
    default_cache_dir,
    known_of_files,
    only_builder,
    remove_leftovers,
    store_key,
)
from onepeak.data.images.store.workers import ImageFile
from onepeak.data.manifest import ImageArrays, ImageFiles
from onepeak.errors import InputError

FILES = ImageFiles(root=Path("/data"), paths=("a.png", "b.png"))
STATES = [ImageFile("a.png", 10, 1), ImageFile("b.png", 20, 2)]
names = st.lists(st.text("a/\n,1é", min_size=1), min_size=1, max_size=3)


def key(items=FILES, states=STATES, resize=Resize(), bits=None):  # noqa: B008 (a frozen record)
    return store_key(items, states, resize, bits)


def test_everything_that_changes_the_pixels_changes_the_key():
    others = [
        key(replace(FILES, root=Path("/other"))),
        key(replace(FILES, paths=("a.png", "c.png"))),
        key(FILES.take([1, 0]), STATES[::-1]),
        key(states=[ImageFile("a.png", 11, 1), STATES[1]]),
        key(states=[ImageFile("a.png", 10, 3), STATES[1]]),
        key(resize=Resize(scale=0.5)),
        key(resize=Resize(short_side=5)),
        key(resize=Resize(short_side=5, only_enlarge=True)),
        key(bits=12),
    ]
    assert len({key(), *others}) == 1 + len(others)
    assert key() == key()


@given(names, names)
def test_different_lists_of_names_have_different_keys(one, other):
    def of(paths):
        return key(ImageFiles(root=Path("/data"), paths=tuple(paths)), [ImageFile("", 1, 1)] * len(paths))

    assert (of(one) == of(other)) == (one == other)


def test_images_in_memory_are_known_by_their_values_and_shape():
    pixels = np.arange(2 * 4 * 6 * 3, dtype=np.uint8).reshape(2, 4, 6, 3)
    first = store_key(ImageArrays(pixels=pixels), [], Resize())
    assert first == store_key(ImageArrays(pixels=np.asfortranarray(pixels)), [], Resize())
    assert first != store_key(ImageArrays(pixels=pixels.reshape(2, 6, 4, 3)), [], Resize())
    assert first != store_key(ImageArrays(pixels=pixels + 1), [], Resize())
    assert first != store_key(ImageArrays(pixels=pixels), [], Resize(scale=0.5))


def test_any_store_of_the_same_files_knows_their_sizes_and_fingerprints(images, tmp_path):
    files, _ = images((4, 5), (40, 30), (7, 9))
    cache, broken = tmp_path / "cache", files.root / files.paths[1]
    broken.write_bytes(b"no image")
    with pytest.warns(UnreadableImagesWarning):
        store = build_store(files, Resize(short_side=2), cache_dir=cache, workers=1, skip_bad=True)
    sizes = known_of_files(files, "originals", cache)
    assert {item: size.tolist() for item, size in sizes.items()} == {0: [4, 5], 2: [7, 9]}
    digests = known_of_files(files, "digests", cache)
    assert [digest.tobytes().hex() for digest in digests.values()] == list(store.digests)
    assert known_of_files(files.take([0, 2]), "digests", cache) == {}
    broken.write_bytes(b"still none")
    assert known_of_files(files, "digests", cache) == {}


@pytest.fixture
def many(tmp_path):
    """Some megabytes of images, enough for a build to be caught at work."""
    root = tmp_path / "pictures"
    root.mkdir()
    rng = np.random.default_rng(0)
    for number in range(40):
        Image.fromarray(rng.integers(0, 256, (100, 150, 3), np.uint8)).save(root / f"{number:02}.png")
    return ImageFiles(root=root, paths=tuple(sorted(path.name for path in root.iterdir())))


def build(items, cache, workers=1):
    """Code that builds a store."""
    return f"""
        items = ImageFiles(root=Path({str(items.root)!r}), paths={items.paths!r})
        build_store(items, cache_dir=Path({str(cache)!r}), workers={workers})
    """


@pytest.mark.parametrize(("workers", "kills"), [(1, 4), (2, 2)])
def test_a_build_killed_at_any_moment_leaves_a_whole_store_or_none(many, processes, tmp_path, workers, kills):
    cache = tmp_path / "cache"
    began = time.perf_counter()
    expected = build_store(many, cache_dir=tmp_path / "expected", workers=workers)
    longest = 1.5 * (time.perf_counter() - began)
    rng = random.Random(workers)
    caught_building = killed = 0
    while killed < kills:
        for folder in cache.glob("images-*"):  # start again from nothing
            shutil.rmtree(folder)
        ((status, output),) = processes(build(many, cache, workers), kill_after=rng.uniform(0, longest))
        if status == 0:
            longest *= 0.9  # it was done before: kill earlier, most often
        else:
            assert status == -signal.SIGKILL, output
            killed += 1
            caught_building += any(cache.glob(".building-*"))
        for folder in cache.glob("images-*"):
            store = open_store(folder)
            store.verify()
            assert store.digests == expected.digests
    assert caught_building >= kills // 4, "the kills must hit builds at work"
    for folder in cache.glob("images-*"):
        shutil.rmtree(folder)
    again = build_store(many, cache_dir=cache, workers=workers)
    assert (again.pixels == expected.pixels).all()
    assert not list(cache.glob(".building-*")), "the next build removes what killed ones left"


def test_processes_that_build_at_once_share_one_store_or_do_not_disturb_each_other(many, processes, tmp_path):
    part = many.take(range(20))
    answers = processes(*[build(*each) for each in ((many, tmp_path), (many, tmp_path, 2), (part, tmp_path))])
    assert [status for status, _ in answers] == [0] * 3, answers
    folders = list(tmp_path.glob("images-*"))
    assert len(folders) == 2
    for folder in folders:
        open_store(folder).verify()
    assert not list(tmp_path.glob(".building-*"))


def test_leftovers_of_a_living_builder_are_not_touched(tmp_path):
    for key in ("living", "dead"):
        (tmp_path / f".building-{key}").mkdir()
        (tmp_path / f".building-{key}" / "pixels.bin").write_bytes(b"1")
    with only_builder(tmp_path, "living"):
        remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.glob(".building-*")] == [".building-living"]


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_only_the_owner_can_read_a_store(images, tmp_path):
    files, _ = images((4, 5), (4, 5))
    cache = tmp_path / "new" / "cache"
    folder = build_store(files, cache_dir=cache, workers=2).folder
    assert [path.stat().st_mode & 0o777 for path in (cache, folder)] == [0o700, 0o700]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_the_default_place_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("ONEPEAK_CACHE", raising=False)
    assert default_cache_dir() == tmp_path / "xdg" / "onepeak"
    monkeypatch.setenv("ONEPEAK_CACHE", "~/stores")
    assert default_cache_dir() == Path.home() / "stores"


@pytest.mark.bad_input
@pytest.mark.skipif(os.name != "posix", reason="homes of POSIX")
def test_without_a_home_folder_the_variable_is_named(monkeypatch):
    import pwd

    def nobody(_):
        raise KeyError("uid not found")

    for name in ("HOME", "XDG_CACHE_HOME", "ONEPEAK_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    with pytest.raises(InputError, match="there is none: set ONEPEAK_CACHE to a folder"):
        default_cache_dir()
    assert known_of_files(FILES, "digests") == {}
