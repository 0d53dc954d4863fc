import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchvision.transforms.v2 import functional as torchvision

from image_files import write_images
from onepeak.data.images.augment import (
    _GAMMA,
    Augment,
    _mixed,
    blend,
    crop_table,
    cut,
    draw_changes,
    evaluation_batches,
    gather,
    jitter,
    shuffled,
    train_batch,
    turn_hue,
    uniform,
)
from onepeak.data.images.store.build import build_store
from onepeak.data.images.store.failures import UnreadableImagesWarning
from onepeak.errors import InputError

EVERYTHING = Augment(crop=8, horizontal_flip=True, vertical_flip=True, colour_jitter=(0.5, 0.5, 0.5, 0.05))
sizes_of_images = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=20)


def drawn(augment, sizes, samples=None, *, seed=0, epoch=0):
    samples = np.arange(len(sizes)) if samples is None else np.array(samples)
    return draw_changes(augment, samples, np.array(sizes), seed=seed, epoch=epoch)


@given(sizes_of_images, st.integers(1, 32), st.integers(0, 100))
def test_every_crop_lies_within_its_image(sizes, crop, epoch):
    changes = drawn(Augment(crop=crop), sizes, epoch=epoch)
    assert (changes.corners >= 0).all()
    assert (changes.corners + crop <= changes.sizes).all()


@given(sizes_of_images, st.integers(1, 32))
def test_only_images_smaller_than_the_crop_are_enlarged_and_no_more_than_needed(sizes, crop):
    changes = drawn(Augment(crop=crop), sizes)
    for (height, width), (new_height, new_width) in zip(sizes, changes.sizes.tolist(), strict=True):
        if min(height, width) >= crop:
            assert (new_height, new_width) == (height, width)
        else:
            assert min(new_height, new_width) == crop
            factor = crop / min(height, width)
            assert abs(new_height - factor * height) <= 0.5
            assert abs(new_width - factor * width) <= 0.5


@given(st.permutations(range(12)), st.integers(0, 5))
def test_a_sample_is_changed_alike_in_any_batch_and_any_order(order, epoch):
    sizes = [(20 + n, 30 - n) for n in range(12)]
    together = drawn(EVERYTHING, sizes, epoch=epoch)
    mixed = drawn(EVERYTHING, [sizes[n] for n in order[:5]], order[:5], epoch=epoch)
    other = drawn(EVERYTHING, [(30, 30)] * 200, epoch=epoch), drawn(EVERYTHING, [(30, 30)] * 200, seed=1, epoch=epoch)
    for field in ("corners", "horizontal_flip", "vertical_flip", "colour_factors", "colour_order"):
        assert (getattr(mixed, field) == getattr(together, field)[order[:5]]).all()
        assert (getattr(other[0], field) != getattr(other[1], field)).mean() > 0.3


def test_corners_flips_and_orders_are_spread_evenly():
    count = 24_000
    changes = drawn(EVERYTHING, [(11, 10)] * count)
    for axis, places in ((0, 4), (1, 3)):
        shares = np.bincount(changes.corners[:, axis], minlength=places) / count
        assert len(shares) == places
        assert np.abs(shares - 1 / places).max() < 0.015
    assert abs(changes.horizontal_flip.mean() - 0.5) < 0.015
    assert abs(changes.vertical_flip.mean() - 0.5) < 0.015
    assert abs((changes.horizontal_flip & changes.vertical_flip).mean() - 0.25) < 0.015
    _, orders = np.unique(changes.colour_order, axis=0, return_counts=True)
    assert len(orders) == 24
    assert orders.min() > 0.8 * count / 24


def test_colour_factors_have_torchvisions_ranges():
    factors = drawn(Augment(colour_jitter=(0.5, 0.25, 2.0, 0.05)), [(4, 4)] * 5000).colour_factors
    assert np.abs(factors.min(axis=0) - [0.5, 0.75, 0.0, -0.05]).max() < 0.01
    assert np.abs(factors.max(axis=0) - [1.5, 1.25, 3.0, 0.05]).max() < 0.01


def test_what_is_not_asked_for_does_not_happen():
    changes = drawn(Augment(crop=4, horizontal_flip=False), [(9, 9)] * 50)
    assert not changes.horizontal_flip.any()
    assert not changes.vertical_flip.any()
    assert changes.colour_factors is None


@pytest.mark.bad_input
def test_whole_images_of_different_sizes_need_a_crop():
    with pytest.raises(InputError, match=r"`crop` must be given for images of different sizes, .* 7 x 9 and 8 x 9"):
        drawn(Augment(), [(8, 9), (7, 9)])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"crop": 0}, "`crop` must be an integer >= 1, got 0"),
        ({"colour_jitter": (0.5, 0.5)}, r"`colour_jitter` must be four numbers \(brightness, .*, got \(0\.5, 0\.5\)"),
        ({"colour_jitter": (0, -1, 0, 0)}, r"`colour_jitter \(contrast\)` must be a finite number >= 0, got -1"),
        ({"colour_jitter": (0, 0, 0, 0.6)}, r"`colour_jitter \(hue\)` must be .* >= 0 and <= 0\.5, got 0\.6"),
    ],
)
def test_a_wrong_setting_says_what_is_allowed(options, message):
    with pytest.raises(InputError, match=message):
        Augment(**options)


def test_an_epoch_visits_every_sample_once_in_an_order_of_its_own():
    samples = np.arange(100, 200)
    orders = [shuffled(samples, seed=0, epoch=epoch) for epoch in range(3)]
    for order in orders:
        assert sorted(order.tolist()) == list(range(100))
    assert (orders[0] != orders[1]).mean() > 0.9
    assert (orders[1] != orders[2]).mean() > 0.9


MASK = 2**64 - 1
seeds = st.integers(0, 2**63 - 1)


def reference(sample, *, seed, epoch, purpose):
    """The same in plain integers."""

    def mixed(state):
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
        return state ^ (state >> 31)

    gamma, state = 0x9E3779B97F4A7C15, 0
    for counter in (seed, epoch, purpose):
        state = mixed((state + gamma * (counter + 1)) & MASK)
    return (mixed(mixed((state + gamma * (sample + 1)) & MASK)) >> 11) / 2**53


@given(st.lists(st.integers(0, 2**62), max_size=5), seeds, st.integers(0, 10**6), st.integers(0, 20))
def test_it_is_the_definition_in_plain_integers(samples, seed, epoch, purpose):
    drawn = uniform(np.array(samples, np.int64), seed=seed, epoch=epoch, purpose=purpose)
    assert drawn.tolist() == [reference(n, seed=seed, epoch=epoch, purpose=purpose) for n in samples]


def test_the_mixing_is_that_of_splitmix64():
    # The first outputs of the published generator from state 0 are the mixed multiples of its increment.
    states = _GAMMA * np.arange(1, 4, dtype=np.uint64)
    assert [hex(value) for value in _mixed(states).tolist()] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


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
    return lambda images, factors: blend(
        images, factors, from_mean=from_mean * everyone, from_grey=from_grey * everyone
    )


ADJUSTMENTS = [
    (blended(0, 0), torchvision.adjust_brightness, (0.0, 2.0)),
    (blended(1, 0), torchvision.adjust_contrast, (0.0, 2.0)),
    (blended(0, 1), torchvision.adjust_saturation, (0.0, 2.0)),
    (turn_hue, torchvision.adjust_hue, (-0.5, 0.5)),
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
    ours = jitter(images, factors, order)
    assert ours.dtype == torch.uint8
    assert (ours.int() - torch.stack(expected).int()).abs().max() <= 1, "one step where a half is rounded"
    assert (ours == torch.stack(expected)).float().mean() > 0.999


def test_the_memory_layout_is_kept():
    images = torch.randint(0, 256, (2, 4, 4, 3), dtype=torch.uint8).permute(0, 3, 1, 2)
    changed = jitter(images, np.full((2, 4), 0.3), np.array([[0, 1, 2, 3], [3, 2, 1, 0]]))
    assert changed.is_contiguous(memory_format=torch.channels_last)
