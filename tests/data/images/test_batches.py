import numpy as np
import pytest
import torch
from torchvision.transforms.v2 import functional as torchvision

from image_files import write_images
from onepeak.data.images import batches
from onepeak.data.images.augment import Augment, draw_changes
from onepeak.data.images.batches import crop_table, cut, evaluation_batches, gather, train_batch
from onepeak.data.images.store.build import build_store
from onepeak.data.images.store.failures import UnreadableImagesWarning
from onepeak.errors import InputError

ALL_CHANGES = Augment(crop=7, vertical_flip=True, colour_jitter=(0.5, 0.5, 0.5, 0.05))


def test_a_image_is_augmented_alike_alone_and_in_a_batch_of_others(mixed_store):
    together = train_batch(mixed_store, [4, 0, 3, 1, 2], ALL_CHANGES, seed=3, epoch=5)
    for row, position in enumerate([4, 0, 3, 1, 2]):
        assert (train_batch(mixed_store, [position], ALL_CHANGES, seed=3, epoch=5)[0] == together[row]).all()


def test_images_left_out_do_not_change_the_augmentation_of_the_others(tmp_path):
    items, _ = write_images(tmp_path / "pictures", [(9, 12), (14, 10), (20, 20)])
    whole = build_store(items, cache_dir=tmp_path / "cache", workers=1)
    (items.root / "1.png").write_bytes(b"")
    with pytest.warns(UnreadableImagesWarning):
        fewer = build_store(items, cache_dir=tmp_path / "cache", workers=1, skip_bad=True)
    assert (
        train_batch(whole, [0, 2], ALL_CHANGES, seed=0, epoch=0)
        == train_batch(fewer, [0, 1], ALL_CHANGES, seed=0, epoch=0)
    ).all()


def test_evaluation_gives_every_image_once_whole_and_only_with_its_like(mixed_store):
    indices = torch.tensor([4, 2, 0, 3, 1, 0])
    seen = {}
    shapes = []
    for places, batch in evaluation_batches(mixed_store, indices, batch_size=2):
        shapes.append(tuple(batch.shape))
        for place, image in zip(places.tolist(), batch, strict=True):
            assert (image == mixed_store[int(indices[place])]).all()
            seen[place] = True
    assert sorted(seen) == list(range(6))
    assert shapes == [(2, 3, 9, 12), (1, 3, 9, 12), (1, 3, 12, 9), (1, 3, 14, 10), (1, 3, 20, 20)]


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


@pytest.mark.gpu
def test_the_gpu_gives_the_same_batches(mixed_store):
    indices = [4, 0, 3, 1, 2]
    expected = train_batch(mixed_store, indices, ALL_CHANGES, seed=3, epoch=5).int()
    enlarged = train_batch(mixed_store, indices, Augment(crop=13), seed=3, epoch=5).int()
    for store in (mixed_store, mixed_store.to("cuda")):
        batch = train_batch(store, indices, ALL_CHANGES, seed=3, epoch=5, device="cuda")
        assert batch.device.type == "cuda"
        assert (batch.cpu().int() - expected).abs().max() <= 1
        plain = train_batch(store, indices, Augment(crop=7), seed=3, epoch=5, device="cuda")
        assert (plain.cpu() == train_batch(mixed_store, indices, Augment(crop=7), seed=3, epoch=5)).all()
        assert plain.is_contiguous(memory_format=torch.channels_last)
        larger = train_batch(store, indices, Augment(crop=13), seed=3, epoch=5, device="cuda").cpu().int()
        assert (larger - enlarged).abs().max() <= 1, "enlarging may round a half otherwise"
    whole = list(evaluation_batches(mixed_store.to("cuda"), indices, batch_size=2))
    for (places, ours), (_, theirs) in zip(whole, evaluation_batches(mixed_store, indices, batch_size=2), strict=True):
        assert places.device.type == "cpu"
        assert (ours.cpu() == theirs).all()


def expected_crop(store, position, changes, row):
    height, width = changes.crop
    top, left = changes.corners[row]
    crop = store[position].numpy()[:, top : top + height, left : left + width]
    crop = crop[:, ::-1] if changes.vertical_flip[row] else crop
    return crop[:, :, ::-1] if changes.horizontal_flip[row] else crop


@pytest.fixture
def changes_of():
    def draw(store, positions, augment, epoch=0):
        return draw_changes(augment, store.kept[positions], store.sizes[positions], seed=0, epoch=epoch)

    return draw


def by_gather(store, positions, changes):
    return gather(store, crop_table(store, positions, changes), changes.crop).permute(0, 3, 1, 2)


@pytest.mark.parametrize("way", [cut, by_gather])
def test_crops_are_cut_and_mirrored_as_drawn(mixed_store, changes_of, way):
    positions = np.array([3, 0, 2, 2, 1, 4])
    for epoch in range(6):
        changes = changes_of(mixed_store, positions, Augment(crop=8, vertical_flip=True), epoch)
        batch = way(mixed_store, positions, changes)
        for row, position in enumerate(positions):
            assert (batch[row].numpy() == expected_crop(mixed_store, position, changes, row)).all()


def test_a_batch_is_channels_last_in_memory(mixed_store, changes_of):
    positions = np.arange(5)
    batch = cut(mixed_store, positions, changes_of(mixed_store, positions, Augment(crop=6)))
    assert batch.shape == (5, 3, 6, 6)
    assert batch.is_contiguous(memory_format=torch.channels_last)
    nothing = positions[:0]
    assert cut(mixed_store, nothing, changes_of(mixed_store, nothing, Augment(crop=6))).shape == (0, 3, 6, 6)


def test_a_image_smaller_than_the_crop_is_enlarged_not_padded(mixed_store, changes_of):
    positions = np.array([0, 1])  # 9 x 12 and 14 x 10
    changes = changes_of(mixed_store, positions, Augment(crop=13, horizontal_flip=False))
    assert changes.sizes.tolist() == [[13, 17], [18, 13]]
    batch = cut(mixed_store, positions, changes)
    for row, position in enumerate(positions):
        size = changes.sizes[row].tolist()
        larger = torch.nn.functional.interpolate(mixed_store[position][None].float(), size, mode="bilinear")[0]
        top, left = changes.corners[row]
        expected = larger[:, top : top + 13, left : left + 13].round().to(torch.uint8)
        assert (batch[row] == expected).all()


SEED = torch.Generator().manual_seed(0)
IMAGES = torch.rand(12, 3, 9, 7, generator=SEED)
IMAGES[0] = 0.4  # grey, which has no hue
IMAGES[1] = 0.0
IMAGES[2, :, :4] = 1.0
IMAGES[3, 1:] = 0.0  # pure red
IMAGES[4] = (IMAGES[4] * 4).round() / 4  # ties between colours


def blended(from_mean, from_grey):
    everyone = torch.ones(12)
    return lambda images, factors: batches.blend(
        images, factors, from_mean=from_mean * everyone, from_grey=from_grey * everyone
    )


ADJUSTMENTS = [
    (blended(0, 0), torchvision.adjust_brightness, (0.0, 2.0)),
    (blended(1, 0), torchvision.adjust_contrast, (0.0, 2.0)),
    (blended(0, 1), torchvision.adjust_saturation, (0.0, 2.0)),
    (batches.turn_hue, torchvision.adjust_hue, (-0.5, 0.5)),
]


@pytest.mark.parametrize(("ours", "theirs", "limits"), ADJUSTMENTS)
def test_each_image_is_adjusted_as_torchvision_does_it_alone(ours, theirs, limits):
    low, high = limits
    for factors in (torch.linspace(low, high, 12), torch.full((12,), high), torch.full((12,), low)):
        expected = torch.stack([theirs(image, float(f)) for image, f in zip(IMAGES, factors, strict=True)])
        torch.testing.assert_close(ours(IMAGES, factors), expected, atol=2e-6, rtol=0)


@pytest.mark.parametrize(("ours", "neutral"), [(a[0], n) for a, n in zip(ADJUSTMENTS, (1, 1, 1, 0), strict=True)])
def test_the_neutral_factor_changes_nothing(ours, neutral):
    torch.testing.assert_close(ours(IMAGES, torch.full((12,), float(neutral))), IMAGES, atol=1e-6, rtol=0)


def test_every_image_has_its_own_order():
    rng = np.random.default_rng(0)
    images = torch.randint(0, 256, (24, 3, 6, 5), dtype=torch.uint8, generator=SEED)
    factors = np.column_stack([rng.uniform(0.4, 1.6, (24, 3)), rng.uniform(-0.2, 0.2, 24)])
    order = np.array([rng.permutation(4) for _ in range(24)])
    expected = []
    for image, image_factors, steps in zip(images, factors, order, strict=True):
        changed = image.float() / 255
        for step in steps:
            changed = ADJUSTMENTS[step][1](changed, float(image_factors[step]))
        expected.append((changed * 255).round().to(torch.uint8))
    ours = batches.jitter(images, factors, order)
    assert ours.dtype == torch.uint8
    assert (ours.int() - torch.stack(expected).int()).abs().max() <= 1, "one step where a half is rounded"
    assert (ours == torch.stack(expected)).float().mean() > 0.999


def test_the_memory_layout_is_kept():
    images = torch.randint(0, 256, (2, 4, 4, 3), dtype=torch.uint8).permute(0, 3, 1, 2)
    changed = batches.jitter(images, np.full((2, 4), 0.3), np.array([[0, 1, 2, 3], [3, 2, 1, 0]]))
    assert changed.is_contiguous(memory_format=torch.channels_last)
