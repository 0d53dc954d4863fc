import datetime

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from onepeak.errors import InputError
from onepeak.estimator import OrdinalClassifier
from onepeak.estimator.rows import LabelledRows, hold_out, merged, numbers_of_groups, read_rows, sorted_samples

LABELS = np.arange(6) % 3


def refused(rows, error=InputError):
    with pytest.raises(error) as caught:
        read_rows(LogisticRegression(), rows, LABELS)
    return str(caught.value)


def test_numbers_in_all_their_forms_are_read():
    table = pd.DataFrame(
        {"size": [1.0, 2, 3, 4, 5, 6], "site": pd.Categorical([1, 2] * 3), "smokes": [True, False] * 3}
    )
    table = table.assign(text=["1", "2"] * 3, whole=pd.array([1, 2] * 3, dtype="Int64"))
    rows, labels = read_rows(LogisticRegression(), table, LABELS)
    assert rows[1].tolist() == [2, 2, 0, 2, 2]
    assert (labels == LABELS).all()
    assert read_rows(LogisticRegression(), np.ones((6, 2), dtype=np.float32)).dtype == np.float32


@pytest.mark.bad_input
def test_all_columns_that_are_no_finite_numbers_are_named_with_what_to_do():
    table = pd.DataFrame(
        {
            "age": [1.0, None, 3, None, 5, 6],
            "shape": ["round", None, "oval", "oval", "oval", "oval"],
            "site": pd.Categorical(["a", "b"] * 3),
            "cost": [1, 2, np.inf, 4, 5, 6],
            "seen": pd.date_range("2024-03-01", periods=6),
            "count": pd.array([1, 2, None, 4, 5, 6], dtype="Int64"),
            "fine": range(6),
        }
    )
    message = refused(table)
    for told in (
        "text in columns 'shape', 'site': encode it: make_pipeline(",
        "['shape', 'site']), remainder='passthrough'), OrdinalClassifier(...))",
        "dates in column 'seen': ",
        "NaN in columns 'age', 'shape', 'count': ",
        "infinity in column 'cost': ",
    ):
        assert told in message
    assert "fine" not in message


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("n/a", "text in column 1"),
        (np.nan, "NaN in column 1"),
        (pd.NA, "NaN in column 1"),
        (-np.inf, "infinity in column 1"),
        (datetime.date(2024, 3, 1), "dates in column 1"),
    ],
)
def test_columns_without_names_are_counted_from_zero(value, message):
    rows = [[1.0, 2.0] for _ in LABELS]
    rows[3][1] = value
    assert f"got {message}: " in refused(rows)
    assert f"got {message}: " in refused(np.array(rows, dtype=object))


@pytest.mark.bad_input
@pytest.mark.parametrize("cell", ["feature one", "Feature names unseen at fit time", "X has 3 features"])
def test_a_cell_may_hold_words_of_scikit_learn(cell):
    assert "text in column 'kind': " in refused(pd.DataFrame({"kind": [cell] * 6}))


@pytest.mark.bad_input
def test_what_scikit_learn_says_better_is_left_to_it():
    table = pd.DataFrame({"size": np.ones(6), "shape": "round"})
    model = LogisticRegression()
    read_rows(model, table[["size"]], LABELS)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- shape"):
        read_rows(model, table, reset=False)
    assert "if all input features have string names" in refused(table.rename(columns={"size": 0}), TypeError)
    assert "Input y contains NaN" in _of_labels([*LABELS[:-1], np.nan])
    assert "inconsistent numbers of samples" in _of_labels(LABELS[:-1])
    assert "sparse" in refused(csr_array(np.full((6, 2), np.nan)), TypeError).lower()
    assert "argument must be" in refused(np.array([[{}]] * 6, dtype=object), TypeError)
    assert "inhomogeneous" in refused([[1, 2], [3]] * 3, ValueError)


def _of_labels(labels):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_rows(LogisticRegression(), np.ones((6, 2)), labels)
    assert not isinstance(caught.value, InputError)
    return str(caught.value)


def test_what_the_messages_advise_works():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=60), "shape": [f"shape {number % 10}" for number in range(60)]})
    table.loc[3, "size"] = np.nan
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encoded = make_column_transformer((encoder, ["shape"]), remainder="passthrough")
    model = make_pipeline(encoded, SimpleImputer(), OrdinalClassifier(hidden=(), random_state=0))
    assert model.fit(table, np.arange(60) % 3).predict(table).shape == (60,)


SAMPLE = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(0, 3))
"""Two columns of few values, so that rows repeat, a label and a weight."""


def samples_of(content):
    numbers = np.array(content, dtype=float).reshape(-1, 4)
    return LabelledRows(rows=numbers[:, :2], labels=numbers[:, 2].astype(np.int64), weights=numbers[:, 3])


def grouped(sizes, *, labels=None):
    """Groups of these sizes, each row with a number of its own."""
    count = sum(sizes)
    labels = np.zeros(count, np.int64) if labels is None else labels
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return LabelledRows(rows=np.arange(float(count))[:, None], labels=labels, weights=np.ones(count), groups=groups)


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


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.floats(0, 0.9), st.integers(0, 9))
def test_parts_are_all_samples_and_every_class_gives_its_share(labels, share, seed):
    labels = np.array(labels, dtype=np.int64)
    names = np.arange(len(labels), dtype=float)
    samples = LabelledRows(rows=names[:, None], labels=labels, weights=np.ones(len(labels)))
    train, held_out = hold_out(samples, share, seed=seed)
    assert sorted([*train.rows[:, 0], *held_out.rows[:, 0]]) == names.tolist()
    assert len(held_out) == round(share * len(labels))
    for label in range(4):
        expected = (labels == label).sum() * len(held_out) / len(labels)
        assert abs((held_out.labels == label).sum() - expected) < 1 + 1e-9


def test_every_sample_is_held_out_equally_often_also_the_only_one_of_its_class():
    labels = np.array([0] * 10 + [1] + [2] * 5, dtype=np.int64)
    samples = LabelledRows(rows=np.arange(16.0)[:, None], labels=labels, weights=np.ones(16))
    times = np.zeros(16)
    for seed in range(2000):
        times[hold_out(samples, 0.25, seed=seed)[1].rows[:, 0].astype(int)] += 1
    # 2000 draws with a chance of 1/4: five standard deviations are 97
    assert np.abs(times - 500).max() < 97


@pytest.mark.parametrize(
    ("sizes", "fewest", "held_out"),
    [
        ([60, 10, 10, 10, 10], 1, 20),  # a group larger than the share is trained on while others are left
        ([90, 5, 5], 2, 10),
        ([300, 100, 20], 2, 120),  # of those, the smallest is held out
        ([1000, 400, 390, 10], 2, 400),
        ([10] * 4, 1, 10),
        ([10] * 4, 2, 20),  # as many as are asked for
    ],
)
def test_groups_are_held_out_until_share_and_number_are_reached_the_large_ones_last(sizes, fewest, held_out):
    for seed in range(20):
        assert len(hold_out(grouped(sizes), 0.2, seed=seed, fewest_groups=fewest)[1]) == held_out


@pytest.mark.bad_input
def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="`sample_weight` must leave some sample a weight above zero, all are zero"):
        sorted_samples(LabelledRows(rows=np.ones((2, 1)), labels=np.array([0, 1]), weights=np.zeros(2)))


def test_groups_of_every_kind_are_numbered_by_their_first_rows():
    for groups in [
        ["b", "a", "b", "c"],
        ("b", 1, "b", "1"),
        [(1, 2), (2, 1), (1, 2), (2, 2)],
        np.array([7, -1, 7, 0]),
        np.array(["2020", "2019", "2020", "2021"], dtype="M8[D]"),
        torch.tensor([7, -1, 7, 0]),
        pd.Series(["b", "a", "b", "c"], index=[3, 2, 1, 0], dtype="category"),
        pd.Series([7, 1, 7, 0], dtype="Int64"),
    ]:
        assert numbers_of_groups(groups, 4).tolist() == [0, 1, 0, 2]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "groups",
    [
        ["a", None, "b"],
        np.array([1, np.nan, 2]),
        pd.Series([1, None, 2], dtype="Int64"),
        np.array(["2020", "NaT", "2021"], dtype="M8[D]"),
        pd.Series(["a", None, "b"], dtype="category"),
    ],
)
def test_a_missing_group_is_named_by_its_place(groups):
    with pytest.raises(
        InputError, match=r"`groups` must have no missing value, got 1 row without .*, at positions 1: give"
    ):
        numbers_of_groups(groups, 3)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], r"`groups` must have one label for each of the 3 rows, got shape \(2,\)"),
        (np.zeros((3, 1)), r"`groups` must have one label for each of the 3 rows, got shape \(3, 1\)"),
        (np.array(1), r"`groups` must have one label for each of the 3 rows, got shape \(\)"),
        ("abc", "`groups` must be a sequence or an array with a label for each row, got 'abc'"),
        (3, "`groups` must be a sequence or an array with a label for each row, got 3"),
        ({"a", "b", "c"}, "`groups` must be a sequence or an array with a label for each row, got {"),
        ([["a"], ["b"], ["c"]], "`groups` must have labels that can be hashed, .*: unhashable type: 'list'"),
    ],
)
def test_what_is_no_label_a_row_is_refused(groups, message):
    with pytest.raises(InputError, match=message):
        numbers_of_groups(groups, 3)
