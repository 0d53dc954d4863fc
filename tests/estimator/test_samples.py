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


@pytest.mark.bad_input
def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="`sample_weight` must leave some sample a weight above zero, all are zero"):
        sorted_samples(Samples(rows=np.ones((2, 1)), labels=np.array([0, 1]), weights=np.zeros(2)))
