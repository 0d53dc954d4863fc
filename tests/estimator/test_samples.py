import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.errors import InputError
from onepeak.estimator.samples import Samples, hold_out, merged, sorted_samples

SAMPLE = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(0, 3))
"""Two columns of few values, so that rows repeat, a label and a weight."""


def samples_of(content):
    numbers = np.array(content, dtype=float).reshape(-1, 4)
    return Samples(rows=numbers[:, :2], labels=numbers[:, 2].astype(np.int64), weights=numbers[:, 3])


def grouped(sizes, *, labels=None):
    """Groups of these sizes, each row with a number of its own."""
    count = sum(sizes)
    labels = np.zeros(count, np.int64) if labels is None else labels
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return Samples(rows=np.arange(float(count))[:, None], labels=labels, weights=np.ones(count), groups=groups)


def as_counts(content):
    """The weight of every row with its label, by a dictionary."""
    counts = {}
    for first, second, label, weight in content:
        if weight:
            counts[first, second, label] = counts.get((first, second, label), 0) + weight
    return counts


@given(st.lists(SAMPLE, min_size=1).filter(lambda content: any(sample[3] for sample in content)), st.randoms())
def test_merged_samples_are_every_row_once_with_its_total_weight_whatever_the_order(content, random):
    once = merged(sorted_samples(samples_of(content)))
    found = {(*row, label): weight for row, label, weight in zip(once.rows, once.labels, once.weights, strict=True)}
    assert found == as_counts(content)
    assert len(found) == len(once)
    random.shuffle(content)
    again = merged(sorted_samples(samples_of(content)))
    assert np.array_equal(once.rows, again.rows)
    assert np.array_equal(once.labels, again.labels)
    assert np.array_equal(once.weights, again.weights)


def test_weights_that_are_not_whole_add_up_to_the_same_bits_in_any_order():
    weights = np.array([0.1, 0.2, 0.3, 0.7])
    totals = set()
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        samples = Samples(rows=np.ones((4, 1)), labels=np.zeros(4, np.int64), weights=weights[order])
        totals.add(merged(sorted_samples(samples)).weights.item())
    assert len(totals) == 1


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.floats(0, 0.9), st.integers(0, 9))
def test_parts_are_all_samples_and_every_class_gives_its_share(labels, share, seed):
    labels = np.array(labels, dtype=np.int64)
    names = np.arange(len(labels), dtype=float)
    samples = Samples(rows=names[:, None], labels=labels, weights=np.ones(len(labels)))
    train, held_out = hold_out(samples, share, seed=seed)
    assert sorted([*train.rows[:, 0], *held_out.rows[:, 0]]) == names.tolist()
    assert len(held_out) == round(share * len(labels))
    for label in range(4):
        expected = (labels == label).sum() * len(held_out) / len(labels)
        assert abs((held_out.labels == label).sum() - expected) < 1 + 1e-9


def test_every_sample_is_held_out_equally_often_also_the_only_one_of_its_class():
    labels = np.array([0] * 10 + [1] + [2] * 5, dtype=np.int64)
    samples = Samples(rows=np.arange(16.0)[:, None], labels=labels, weights=np.ones(16))
    times = np.zeros(16)
    for seed in range(2000):
        times[hold_out(samples, 0.25, seed=seed)[1].rows[:, 0].astype(int)] += 1
    # 2000 draws with a chance of 1/4: five standard deviations are 97
    assert np.abs(times - 500).max() < 97


@given(
    st.lists(st.tuples(SAMPLE, st.integers(0, 4)), min_size=1).filter(lambda content: any(s[3] for s, _ in content)),
    st.randoms(),
    st.permutations(range(5)),
)
def test_neither_the_order_of_samples_nor_the_names_of_groups_make_a_difference(content, random, names):
    def in_order(pairs):
        plain = samples_of([sample for sample, _ in pairs])
        groups = np.array([group for _, group in pairs], dtype=np.int64)
        return sorted_samples(Samples(rows=plain.rows, labels=plain.labels, weights=plain.weights, groups=groups))

    first = in_order(content)
    again = [(sample, names[group]) for sample, group in content]
    random.shuffle(again)
    second = in_order(again)
    for part in ("rows", "labels", "weights", "groups"):
        assert np.array_equal(getattr(first, part), getattr(second, part))
    # the groups hold what they held before, by a dictionary
    expected, found = {}, {}
    for sample, group in content:
        if sample[3]:
            expected.setdefault(group, []).append(sample)
    for row, label, weight, group in zip(first.rows, first.labels, first.weights, first.groups, strict=True):
        found.setdefault(group, []).append((*row, label, weight))
    assert sorted(map(sorted, expected.values())) == sorted(map(sorted, found.values()))


@given(st.lists(st.integers(1, 12), min_size=2, max_size=12), st.floats(0, 0.9), st.integers(0, 9))
def test_no_group_is_on_two_sides_and_no_more_are_held_out_than_the_share_needs(sizes, share, seed):
    samples = grouped(sizes)
    train, held_out = hold_out(samples, share, seed=seed)
    assert sorted([*train.rows[:, 0], *held_out.rows[:, 0]]) == samples.rows[:, 0].tolist()
    assert not set(train.groups) & set(held_out.groups)
    assert len(train)
    count, out = round(share * len(samples)), [sizes[group] for group in set(held_out.groups)]
    if count == 0:
        assert not out
    elif sum(out) >= count:
        assert sum(out) - max(out) < count
    else:
        assert len(set(train.groups)) == 1


def test_every_group_of_like_size_is_held_out_equally_often():
    samples, times = grouped([5] * 10), np.zeros(10)
    for seed in range(2000):
        drawn = np.unique(hold_out(samples, 0.2, seed=seed)[1].groups)
        assert len(drawn) == 2
        times[drawn] += 1
    # 2000 draws with a chance of 1/5: five standard deviations are 89
    assert np.abs(times - 400).max() < 89


def test_a_group_larger_than_the_share_is_trained_on_while_others_are_left():
    for seed in range(20):
        train, held_out = hold_out(grouped([60, 10, 10, 10, 10]), 0.2, seed=seed)
        assert 0 in train.groups
        assert len(held_out) == 20
        train, held_out = hold_out(grouped([90, 5, 5]), 0.2, seed=seed, fewest_groups=2)
        assert set(train.groups) == {0}


def test_of_groups_larger_than_the_share_the_smallest_is_held_out():
    for seed in range(20):
        assert len(hold_out(grouped([300, 100, 20]), 0.2, seed=seed, fewest_groups=2)[1]) == 120
        assert len(hold_out(grouped([1000, 400, 390, 10]), 0.2, seed=seed, fewest_groups=2)[1]) == 400


def test_as_many_groups_are_held_out_as_are_asked_for():
    for seed in range(20):
        assert len(set(hold_out(grouped([10] * 4), 0.2, seed=seed)[1].groups)) == 1
        assert len(set(hold_out(grouped([10] * 4), 0.2, seed=seed, fewest_groups=2)[1].groups)) == 2


@pytest.mark.bad_input
def test_too_few_groups_are_told_unless_nothing_is_held_out():
    with pytest.raises(InputError, match=r"`groups` must be at least 3 if .* held out .*, got 2: give rows of more"):
        hold_out(grouped([50, 50]), 0.2, seed=0, fewest_groups=2)
    assert len(hold_out(grouped([100]), 0, seed=0)[0]) == 100


@pytest.mark.bad_input
def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="`sample_weight` must leave some sample a weight above zero, all are zero"):
        sorted_samples(Samples(rows=np.ones((2, 1)), labels=np.array([0, 1]), weights=np.zeros(2)))
