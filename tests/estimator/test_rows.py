import datetime

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from onepeak.errors import InputError
from onepeak.estimator import OrdinalClassifier
from onepeak.estimator.rows import read_rows

LABELS = np.arange(6) % 3
DAY = datetime.date(2024, 3, 1)


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
    assert refused(table) == (
        "`X` must be finite numbers, got text in columns 'shape' (5 rows, such as 'round'), 'site' (6 rows, such as "
        "'a'): encode it: make_pipeline(make_column_transformer((OneHotEncoder(handle_unknown='ignore', "
        "sparse_output=False), ['shape', 'site']), remainder='passthrough'), OrdinalClassifier(...)); dates in column "
        "'seen' (6 rows): give year, month or age in days as numbers; NaN in columns 'age' (2 rows), 'shape' (1 row), "
        "'count' (1 row): fill in missing values: make_pipeline(SimpleImputer(), OrdinalClassifier(...)); infinity in "
        "column 'cost' (1 row): replace it or leave the rows out. `onepeak train` reads text and missing values itself."
        ' (See "Your table" in the documentation)'
    )


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("n/a", "text in column 1 (1 row, such as 'n/a')"),
        (np.nan, "NaN in column 1 (1 row)"),
        (pd.NA, "NaN in column 1 (1 row)"),
        (-np.inf, "infinity in column 1 (1 row)"),
        (DAY, "dates in column 1 (1 row)"),
    ],
)
def test_columns_without_names_are_counted_from_zero(value, message):
    rows = [[1.0, 2.0] for _ in LABELS]
    rows[3][1] = value
    assert f"got {message}: " in refused(rows)
    assert f"got {message}: " in refused(np.array(rows, dtype=object))


@pytest.mark.bad_input
def test_two_columns_of_one_name_and_many_columns_are_told():
    assert "NaN in columns 'a' (6 rows), 'a' (6 rows): " in refused(
        pd.DataFrame(np.full((6, 2), np.nan), columns=["a", "a"])
    )
    message = refused(pd.DataFrame(np.full((6, 12), "x")))
    assert "and 2 more: encode it" in message
    assert "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...])" in message


@pytest.mark.bad_input
def test_of_a_long_text_the_beginning_is_shown():
    rows = np.array([["1", "2"]] * 6, dtype="U2000")
    rows[2, 1] = "a" * 40
    assert f"such as '{'a' * 40}'): " in refused(rows)
    rows[1, 1] = "b" * 2000
    assert f"text in column 1 (2 rows, such as '{'b' * 37}...'): " in refused(rows)


@pytest.mark.bad_input
@pytest.mark.parametrize("cell", ["feature one", "Feature names unseen at fit time", "X has 3 features"])
def test_a_cell_may_hold_words_of_scikit_learn(cell):
    assert f"text in column 'kind' (6 rows, such as '{cell}'): " in refused(pd.DataFrame({"kind": [cell] * 6}))


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
