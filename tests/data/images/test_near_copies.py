import numpy as np
import pytest
from PIL import Image, ImageEnhance

from onepeak.data.images import near_copies
from onepeak.data.images.near_copies import find_near_copies, thumbnails
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.build import build_store
from onepeak.data.manifest import ImageArrays, ImageFiles, Manifest
from onepeak.data.splits.copies import find_copies


def smooth(number, size=48):
    """An image of its own, as photographs are: noise at a low resolution."""
    noise = np.random.default_rng(number).integers(40, 200, (6, 6, 3), np.uint8)
    return Image.fromarray(noise).resize((size, size), Image.Resampling.BICUBIC)


def manifest_of(items, labels):
    return Manifest(name="mine", items=items, labels=np.array(labels), classes=("low", "middle", "high"))


@pytest.fixture
def planted(tmp_path):
    """Thirty images, four of which have near copies; and one pair of exact copies."""
    names = []
    for number in range(30):
        names.append(f"{number:02}.png")
        smooth(number).save(tmp_path / names[-1])
    smooth(3).save(tmp_path / "jpeg.jpg", quality=30)
    smooth(4).resize((31, 31)).save(tmp_path / "small.png")
    ImageEnhance.Brightness(smooth(5)).enhance(1.15).save(tmp_path / "bright.png")
    smooth(6).resize((90, 90)).save(tmp_path / "large.jpg", quality=60)
    (tmp_path / "copy.png").write_bytes((tmp_path / "07.png").read_bytes())
    names += ["jpeg.jpg", "small.png", "bright.png", "large.jpg", "copy.png"]
    labels = [number % 3 for number in range(30)] + [0, 1, 0, 0, 2]
    return manifest_of(ImageFiles(root=tmp_path, paths=tuple(names)), labels)


def test_planted_copies_are_found_and_nothing_else(planted, tmp_path):
    store = build_store(planted.items, Resize(short_side=32), cache_dir=tmp_path / "cache", workers=1, progress=False)
    (copies,) = find_copies(planted, store.digests)
    assert (copies.names, copies.labels, copies.conflict) == (("07.png", "copy.png"), ("middle", "high"), True)
    near = find_near_copies(planted, thumbnails(store), store.digests)
    assert [finding.names for finding in near] == [
        ("05.png", "bright.png"),  # another label comes first
        ("03.png", "jpeg.jpg"),
        ("04.png", "small.png"),
        ("06.png", "large.jpg"),
    ]
    assert [finding.conflict for finding in near] == [True, False, False, False]
    assert all(0.97 <= finding.score <= 1 for finding in near)
    assert find_near_copies(planted, thumbnails(store), store.digests, least=1.0) == []


def test_a_chain_of_similar_samples_is_one_finding_and_exact_copies_are_none():
    angles = np.radians([0, 10, 20, 90, 90])
    values = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    manifest = manifest_of(ImageArrays(pixels=np.zeros((5, 2, 2, 3), np.uint8)), [0, 0, 1, 2, 2])
    (chain,) = find_near_copies(manifest, values, ["a", "b", "c", "d", "d"])
    assert (chain.items, chain.names) == ((0, 1, 2), ("sample 0", "sample 1", "sample 2"))
    assert chain.score == pytest.approx(np.cos(np.radians(10)), abs=1e-3)


def test_of_many_samples_the_same_are_found_as_by_comparing_all(monkeypatch):
    monkeypatch.setattr(near_copies, "_AT_ONCE", 16)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(25, 12))[rng.integers(0, 25, 120)] + 0.12 * rng.normal(size=(120, 12))
    unit = values - values.mean(axis=0)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    linked = unit @ unit.T >= 0.97
    for _ in range(7):  # until chains of 128 samples are linked
        linked = linked @ linked
    expected = {tuple(np.flatnonzero(row).tolist()) for row in linked if row.sum() > 1}
    manifest = manifest_of(ImageArrays(pixels=np.zeros((120, 2, 2, 3), np.uint8)), [0] * 120)
    found = find_near_copies(manifest, values.astype(np.float32), [str(item) for item in range(120)])
    assert {finding.items for finding in found} == expected
    assert len(expected) > 10


def test_what_all_images_have_in_common_makes_no_copies(tmp_path):
    frame = np.zeros((32, 32, 3), np.uint8)
    frame[8:24, 8:24] = 200  # as the bright disc of every fundus
    rng = np.random.default_rng(0)
    pixels = np.clip(frame + rng.integers(-12, 12, (40, 32, 32, 1)), 0, 255).astype(np.uint8)
    manifest = manifest_of(ImageArrays(pixels=pixels), [0, 1] * 20)
    store = build_store(manifest.items, cache_dir=tmp_path, progress=False)
    assert find_near_copies(manifest, thumbnails(store), store.digests) == []


def test_images_of_one_shade_are_compared_without_a_warning(tmp_path):
    items = ImageArrays(pixels=np.repeat(np.uint8([10, 200]), 243).reshape(2, 9, 9, 3))
    store = build_store(items, cache_dir=tmp_path)
    assert find_near_copies(manifest_of(items, [0, 1]), thumbnails(store), store.digests) == []
