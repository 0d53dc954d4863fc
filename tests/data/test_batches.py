import numpy as np
import pytest
import torch

from onepeak.data.augment import Augment
from onepeak.data.batches import evaluation_batches, normalise, train_batch
from onepeak.data.manifest import ImageFiles
from onepeak.data.resize import Resize
from onepeak.data.store import UnreadablePicturesWarning, build_store
from onepeak.errors import InputError
from picture_files import write_pictures

ALL_CHANGES = Augment(crop=7, vertical_flip=True, colour_jitter=(0.5, 0.5, 0.5, 0.05))


def test_a_picture_is_augmented_alike_alone_and_in_a_batch_of_others(mixed_store):
    together = train_batch(mixed_store, [4, 0, 3, 1, 2], ALL_CHANGES, seed=3, epoch=5)
    for row, position in enumerate([4, 0, 3, 1, 2]):
        assert (train_batch(mixed_store, [position], ALL_CHANGES, seed=3, epoch=5)[0] == together[row]).all()


def test_pictures_left_out_do_not_change_the_augmentation_of_the_others(tmp_path):
    items, _ = write_pictures(tmp_path / "pictures", [(9, 12), (14, 10), (20, 20)])
    whole = build_store(items, cache_dir=tmp_path / "cache", workers=1)
    (items.root / "1.png").write_bytes(b"")
    with pytest.warns(UnreadablePicturesWarning):
        fewer = build_store(items, cache_dir=tmp_path / "cache", workers=1, skip_bad=True)
    assert (
        train_batch(whole, [0, 2], ALL_CHANGES, seed=0, epoch=0)
        == train_batch(fewer, [0, 1], ALL_CHANGES, seed=0, epoch=0)
    ).all()


def test_evaluation_gives_every_picture_once_whole_and_only_with_its_like(mixed_store):
    indices = torch.tensor([4, 2, 0, 3, 1, 0])
    seen = {}
    shapes = []
    for places, batch in evaluation_batches(mixed_store, indices, batch_size=2):
        shapes.append(tuple(batch.shape))
        for place, picture in zip(places.tolist(), batch, strict=True):
            assert (picture == mixed_store[int(indices[place])]).all()
            seen[place] = True
    assert sorted(seen) == list(range(6))
    assert shapes == [(2, 3, 9, 12), (1, 3, 9, 12), (1, 3, 12, 9), (1, 3, 14, 10), (1, 3, 20, 20)]


def test_evaluation_of_nothing_is_nothing(mixed_store):
    assert list(evaluation_batches(mixed_store, [], batch_size=2)) == []


def test_normalising_takes_black_to_minus_one_and_white_to_one():
    batch = torch.randint(0, 256, (2, 3, 4, 5), dtype=torch.uint8)
    torch.testing.assert_close(normalise(batch), batch / 127.5 - 1)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"indices": [0, 5]}, "`indices` must be positions from 0 to 4, got 0 to 5"),
        ({"indices": [-1]}, "`indices` must be positions from 0 to 4, got -1 to -1"),
        ({"indices": [0.5]}, r"`indices` must be a flat sequence of integers, got float64 of shape \(1,\)"),
        ({"indices": [[1]]}, r"`indices` must be a flat sequence of integers, got int64 of shape \(1, 1\)"),
        ({"indices": np.array([True])}, r"`indices` must be a flat sequence of integers, got bool of shape \(1,\)"),
        ({"seed": -1}, "`seed` must be an integer >= 0, got -1"),
        ({"epoch": 1.5}, r"`epoch` must be an integer >= 0, got 1\.5"),
    ],
)
def test_a_wrong_argument_of_a_batch_says_what_is_allowed(mixed_store, options, message):
    with pytest.raises(InputError, match=message):
        train_batch(mixed_store, **{"indices": [0], "augment": Augment(crop=2), "seed": 0, "epoch": 0} | options)


@pytest.mark.bad_input
def test_a_batch_size_of_nothing_is_refused(mixed_store):
    with pytest.raises(InputError, match="`batch_size` must be an integer >= 1, got 0"):
        next(evaluation_batches(mixed_store, [0], batch_size=0))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (torch.zeros(1, 3, 2, 2), r"`batch` must be uint8 of shape \(batch, 3, height, width\), got torch.float32"),
        (torch.zeros(3, 2, 2, dtype=torch.uint8), r"got torch.uint8 of shape \(3, 2, 2\)"),
    ],
)
def test_normalising_says_what_it_cannot_do(batch, message):
    with pytest.raises(InputError, match=message):
        normalise(batch)


def test_the_papers_geometry_on_real_faces(shared_data, tmp_path):
    root = shared_data / "fgnet-originals"
    items = ImageFiles(root=root, paths=tuple(sorted(path.name for path in root.iterdir())))
    resize = Resize(short_side=532, only_enlarge=True, scale=0.5)
    store = build_store(items, resize, cache_dir=tmp_path, workers=1)
    assert len(store) == len(items)
    assert store.sizes.min() >= 266
    batch = train_batch(store, range(len(store)), Augment(crop=256), seed=0, epoch=0)
    assert batch.shape == (len(store), 3, 256, 256)
    assert sum(len(places) for places, _ in evaluation_batches(store, range(len(store)), batch_size=8)) == len(store)


@pytest.mark.gpu
def test_the_gpu_gives_the_same_batches(mixed_store):
    indices = [4, 0, 3, 1, 2]
    expected = train_batch(mixed_store, indices, ALL_CHANGES, seed=3, epoch=5).int()
    for store in (mixed_store, mixed_store.to("cuda")):
        batch = train_batch(store, indices, ALL_CHANGES, seed=3, epoch=5, device="cuda")
        assert batch.device.type == "cuda"
        assert (batch.cpu().int() - expected).abs().max() <= 1
        plain = train_batch(store, indices, Augment(crop=7), seed=3, epoch=5, device="cuda")
        assert (plain.cpu() == train_batch(mixed_store, indices, Augment(crop=7), seed=3, epoch=5)).all()
        assert plain.is_contiguous(memory_format=torch.channels_last)
    whole = list(evaluation_batches(mixed_store.to("cuda"), indices, batch_size=2))
    for (places, ours), (_, theirs) in zip(whole, evaluation_batches(mixed_store, indices, batch_size=2), strict=True):
        assert places.device.type == "cpu"
        assert (ours.cpu() == theirs).all()
