import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from onepeak.data.images.resize import Resize
from onepeak.errors import InputError

sides = st.integers(1, 5000)


@pytest.mark.parametrize(
    ("resize", "before", "after"),
    [
        (Resize(scale=0.5), (1536, 2048), (768, 1024)),  # ICIAR
        (Resize(short_side=532, only_enlarge=True, scale=0.5), (300, 359), (266, 318)),  # FG-NET, enlarged
        (Resize(short_side=532, only_enlarge=True, scale=0.5), (772, 639), (386, 320)),  # FG-NET, large already
        (Resize(), (312, 500), (312, 500)),  # HCI
        (Resize(short_side=10), (1, 1000), (10, 10000)),
        (Resize(scale=0.001), (5, 700), (1, 1)),
    ],
)
def test_sizes_worked_by_hand(resize, before, after):
    assert resize.size_of(*before) == after


@given(sides, sides, st.integers(1, 600))
def test_the_short_side_is_exactly_what_was_asked(height, width, short_side):
    assert min(Resize(short_side=short_side).size_of(height, width)) == short_side


@given(sides, sides, st.integers(1, 600))
def test_only_enlarging_never_shrinks(height, width, short_side):
    new_height, new_width = Resize(short_side=short_side, only_enlarge=True).size_of(height, width)
    assert new_height >= height
    assert new_width >= width
    assert min(new_height, new_width) >= short_side
    assert min(Resize(short_side=532, only_enlarge=True, scale=0.5).size_of(height, width)) >= 266  # the paper's crop


def test_shrinking_averages_instead_of_picking_pixels():
    stripes = np.zeros((64, 64, 3), np.uint8)
    stripes[:, ::2] = 255
    small = np.asarray(Resize(short_side=16).apply(Image.fromarray(stripes)))
    assert small.shape == (16, 16, 3)
    assert np.abs(small[:, 1:-1].astype(int) - 127).max() < 12


def test_a_image_of_the_right_size_is_not_resampled():
    image = Image.new("RGB", (3, 2))
    assert Resize(short_side=2).apply(image) is image


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"short_side": 0}, "`short_side` must be an integer >= 1, got 0"),
        ({"short_side": 2.5}, r"`short_side` must be an integer >= 1, got 2\.5"),
        ({"scale": 0}, "`scale` must be a finite number > 0, got 0"),
        ({"scale": float("nan")}, "`scale` must be a finite number > 0, got nan"),
        ({"only_enlarge": True}, "`only_enlarge` has no effect without `short_side`: give the side, or leave it out"),
    ],
)
def test_a_wrong_recipe_says_what_is_wrong(options, message):
    with pytest.raises(InputError, match=message):
        Resize(**options)
