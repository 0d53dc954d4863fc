import numpy as np
import pytest

from onepeak.data.manifest import ImageArrays
from onepeak.data.splits.digests import item_digests
from onepeak.errors import InputError
from onepeak.training.trained_items import (
    load_held_out_items,
    load_trained_items,
    save_held_out_items,
    save_trained_items,
    short,
)


def test_the_items_of_a_model_are_known_again_and_others_are_not(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (6, 4, 4, 3), np.uint8)
    digests = item_digests(ImageArrays(pixels=pixels))
    save_trained_items(tmp_path, [*digests[:4], digests[0]])
    known = load_trained_items(tmp_path)
    assert [short(digest) in known for digest in digests] == [True] * 4 + [False] * 2
    assert len(known) == 4
    assert (tmp_path / "trained_items.txt").stat().st_size == 4 * 17


def test_what_was_held_out_is_listed_in_the_order_of_the_predictions(tmp_path):
    save_held_out_items(tmp_path, ["b" * 64, "a" * 64, "b" * 64])
    assert load_held_out_items(tmp_path) == ["b" * 16, "a" * 16, "b" * 16]


def test_a_folder_that_does_not_say_knows_of_none(tmp_path):
    assert load_trained_items(tmp_path) == frozenset()
    assert load_held_out_items(tmp_path) == []


@pytest.mark.bad_input
def test_a_list_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "trained_items.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"trained_items\.txt must be the list that onepeak wrote"):
        load_trained_items(tmp_path)
