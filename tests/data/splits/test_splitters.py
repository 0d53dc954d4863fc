import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold

from onepeak.data.splits.splitters import codes, deal, deal_groups, draw, share_of, shuffled
from onepeak.errors import InputError

GOLDEN = [3, 4, 0, 6, 5, 2, 7, 9, 10, 8, 11, 1]
seeds = st.integers(0, 2**40)
labels = st.lists(st.integers(0, 6), min_size=5, max_size=60).map(lambda values: np.array(values, dtype=np.int64))


def spread(cells, dealt, parts):
    """Items of every cell in every part."""
    return np.array([np.bincount(cells[dealt == part], minlength=cells.max() + 1) for part in range(parts)])


def test_shuffled_never_changes():
    # written down once: if this fails, every published split has changed
    assert shuffled(12, seed=0, stream=(0, 1)).tolist() == GOLDEN
    assert shuffled(12, seed=1, stream=(0, 1)).tolist() != GOLDEN
    assert shuffled(12, seed=0, stream=(1, 1)).tolist() != GOLDEN


def test_codes_follow_the_sorted_values_whatever_the_order_of_the_items():
    assert codes(["10", "b", "9", "10"]).tolist() == [0, 2, 1, 0]
    assert codes([]).tolist() == []


@given(labels, seeds, st.floats(0, 1))
def test_draw_takes_the_size_asked_for_from_every_cell(cells, seed, share):
    sizes = share_of(np.bincount(cells), share)
    drawn = draw(cells, sizes, seed=seed, stream=(0,))
    assert np.bincount(cells[drawn], minlength=len(sizes)).tolist() == sizes.tolist()


@pytest.mark.bad_input
def test_draw_refuses_more_than_a_cell_holds():
    with pytest.raises(InputError, match=r"`sizes` must be at most .*: cell 1 holds 2, asked for 3"):
        draw(np.array([0, 1, 1]), np.array([1, 3]), seed=0, stream=(0,))


def test_share_of_rounds_to_the_nearest_with_halves_up():
    assert share_of(np.array([0, 1, 2, 3, 5, 82, 66]), 0.2).tolist() == [0, 0, 0, 1, 1, 16, 13]
    assert share_of(np.array([1, 3, 101]), 0.5).tolist() == [1, 2, 51]


@given(labels, seeds, st.integers(2, 5))
def test_deal_is_even_in_the_whole_in_every_cell_and_up_to_every_cell(cells, seed, parts):
    counts = spread(cells, deal(cells, parts=parts, seed=seed, stream=(0,)), parts)
    assert np.ptp(counts.sum(axis=1)) <= 1
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp(counts.cumsum(axis=1), axis=0).max() <= 1


def test_the_only_item_of_a_class_is_dealt_to_every_part_equally_often():
    cells = np.array([0, 0, 0, 0, 1])
    parts = np.bincount([deal(cells, parts=5, seed=0, stream=(split,))[4] for split in range(2000)])
    assert np.all(np.abs(parts - 400) < 5 * np.sqrt(2000 * 0.2 * 0.8))


@given(labels, seeds, st.integers(2, 5), st.data())
def test_deal_groups_keeps_groups_whole_and_fills_every_part(cells, seed, parts, data):
    size = st.lists(st.integers(0, 30), min_size=len(cells), max_size=len(cells))
    groups = np.unique(data.draw(size), return_inverse=True)[1].astype(np.int64)
    if groups.max() + 1 < parts:
        return
    dealt = deal_groups(cells, groups, parts=parts, seed=seed, stream=(0,))
    assert all(len(set(dealt[groups == group])) == 1 for group in range(groups.max() + 1))
    assert set(dealt) == set(range(parts))


@given(labels, seeds)
def test_groups_of_one_are_dealt_as_evenly_as_items(cells, seed):
    counts = spread(cells, deal_groups(cells, np.arange(len(cells)), parts=4, seed=seed, stream=(0,)), 4)
    assert np.ptp(counts, axis=0).max() <= 1


def test_deal_groups_is_as_even_as_scikit_learn_s_to_a_tenth(fgnet_like):
    ages, subjects = fgnet_like.labels, codes(fgnet_like.groups)

    def unevenness(dealt):
        counts = spread(ages, dealt, 5)
        held = np.maximum(np.bincount(ages), 1)
        return ((counts - held / 5) ** 2 / held).sum()

    ours, theirs = [], []
    for seed in range(5):
        ours.append(unevenness(deal_groups(ages, subjects, parts=5, seed=seed, stream=(0,))))
        dealt = np.empty(len(ages), dtype=np.int64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of ages rarer than folds, which is why it is not used
            splitter = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
            for part, (_, tested) in enumerate(splitter.split(ages, ages, subjects)):
                dealt[tested] = part
        theirs.append(unevenness(dealt))
    assert np.mean(ours) < 1.1 * np.mean(theirs)


def test_deal_groups_draws_anew_with_another_stream(fgnet_like):
    subjects = codes(fgnet_like.groups)
    first, second = (deal_groups(fgnet_like.labels, subjects, parts=5, seed=0, stream=(split,)) for split in (0, 1))
    together = np.mean((first[:, None] == first) == (second[:, None] == second))
    assert together < 0.8  # a relabelling of the same parts would give 1


@pytest.mark.bad_input
def test_too_few_items_or_groups_are_refused():
    with pytest.raises(InputError, match="5 folds need at least 5 samples, found 3"):
        deal(np.zeros(3, dtype=np.int64), parts=5, seed=0, stream=(0,))
    with pytest.raises(InputError, match="4 folds by group need at least 4 groups, found 2"):
        deal_groups(np.zeros(9, dtype=np.int64), np.arange(9) % 2, parts=4, seed=0, stream=(0,))
    with pytest.raises(InputError, match="`parts` must be an integer >= 2, got 1"):
        deal(np.zeros(3, dtype=np.int64), parts=1, seed=0, stream=(0,))
