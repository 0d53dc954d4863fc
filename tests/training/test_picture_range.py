import numpy as np
import pytest

from onepeak.data.biopsies import biopsies
from onepeak.data.manifest import ImageArrays
from onepeak.data.store import build_store
from onepeak.training.picture_range import PictureRange, picture_statistics
from reference import picture_statistics as reference

SIDE = 64


def flat(value):
    return np.full((SIDE, SIDE, 3), value, np.uint8)


@pytest.fixture
def learn(tmp_path):
    """The range of pictures, all of them or those at some positions."""

    def learnt(pictures, positions=None):
        store = build_store(ImageArrays(pixels=np.stack(pictures)), cache_dir=tmp_path, progress=False)
        return PictureRange.learn(store, np.arange(len(store)) if positions is None else np.array(positions))

    return learnt


@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (3, 1), (1, 9), (255, 4)])
def test_statistics_are_those_of_the_definition(shape):
    picture = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    expected = reference.picture_statistics(picture.tolist())
    assert picture_statistics(picture) == pytest.approx(expected, abs=1e-5)


def test_of_many_rows_some_are_looked_at():
    picture = np.random.default_rng(0).integers(0, 256, (256, 4, 3), np.uint8)
    assert picture_statistics(picture) == picture_statistics(picture[::2])
    assert picture_statistics(picture) != picture_statistics(picture[1::2])


def test_a_mirrored_picture_has_the_same_statistics():
    picture = np.random.default_rng(1).integers(0, 256, (9, 7, 3), np.uint8)
    assert picture_statistics(picture[::-1, ::-1]) == pytest.approx(picture_statistics(picture), abs=1e-5)


def test_a_picture_is_outside_beyond_a_width_of_what_nine_in_ten_are(learn):
    known = learn([flat(100 + number) for number in range(41)])
    assert known.num_pictures == 41
    assert known.ends["brightness"] == pytest.approx((102, 138))
    assert known.ends["contrast"] == known.ends["grain"] == known.ends["redness"] == (0, 0)
    told = {value: known.outside(flat(value)) for value in (65, 66, 120, 174, 175)}
    assert told == {65: ("brightness",), 66: (), 120: (), 174: (), 175: ("brightness",)}


def test_pictures_that_are_all_alike_leave_room_for_eight_shades(learn):
    known = learn([flat(100)] * 40)
    assert (known.outside(flat(92)), known.outside(flat(108))) == ((), ())
    assert known.outside(flat(109)) == ("brightness",)
    tinted = flat(100)
    tinted[..., 0] += 9
    assert known.outside(tinted) == ("redness",)


def test_of_few_pictures_nothing_is_known(learn):
    pictures = [flat(100)] * 30
    assert learn(pictures).num_pictures == 30
    assert learn(pictures, range(29)) is None


def test_five_hundred_of_many_are_looked_at_from_the_first_to_the_last(tmp_path):
    pixels = np.zeros((1000, 2, 2, 3), np.uint8)
    pixels[200:400], pixels[900:] = 100, 200
    store = build_store(ImageArrays(pixels=pixels), cache_dir=tmp_path, progress=False)
    known = PictureRange.learn(store, np.arange(200, 1000))
    assert known.num_pictures == 500
    assert known.ends["brightness"] == (0, 200)


def test_odd_pictures_in_the_training_make_no_others_usual(learn):
    pictures = [*biopsies(60).items.pixels, flat(255), flat(0)]
    assert learn(pictures).outside(flat(255)) == learn(pictures[:60]).outside(flat(255)) != ()


def test_other_things_are_told_and_new_patients_are_not(learn):
    pixels = biopsies(600).items.pixels
    known = learn(pixels, range(300))
    assert sum(bool(known.outside(picture)) for picture in pixels[300:]) < 3  # of 300: less than one per cent
    rng = np.random.default_rng(0)
    noise, grey = rng.integers(0, 256, (SIDE, SIDE, 3), np.uint8), rng.integers(0, 256, (SIDE, SIDE, 1), np.uint8)
    glass = np.clip(rng.normal(243, 2, (SIDE, SIDE, 3)), 0, 255).astype(np.uint8)
    for other in (flat(255), flat(0), flat(128), noise, grey.repeat(3, axis=-1), glass, 255 - pixels[0]):
        assert known.outside(other) != ()
    assert {"contrast", "grain"} <= {*known.outside(flat(0)), *known.outside(noise)}


@pytest.mark.bad_input
def test_a_range_of_other_statistics_is_refused():
    with pytest.raises(TypeError, match="ends must be given for brightness, contrast, grain, redness, yellowness"):
        PictureRange(num_pictures=30, ends={"brightness": (0.0, 1.0)})
