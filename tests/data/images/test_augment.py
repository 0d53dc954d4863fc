import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.images.augment import _GAMMA, Augment, _mixed, draw_changes, shuffled, uniform
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
