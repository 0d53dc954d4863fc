import numpy as np
import pandas as pd
import pytest

from onepeak.data.names import as_names, categories_of, names_of


def test_what_stands_for_nothing_is_no_name():
    assert names_of(pd.Series(["a", " NA ", "", None, np.nan, "n/a"])) == ["a", None, None, None, None, None]


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["1.0", "1", "2.00", "-3.0"], ("-3", "1", "2")),
        (["007", "7", "1.0"], ("007", "1.0", "7")),  # identifiers
        (["0.5", "1.0", "2"], ("0.5", "1.0", "2")),
        (["v2.0", "1.0"], ("1.0", "v2.0")),
        ([0.5, 1.0, None], ("0.5", "1.0")),
        ([1e16, -0.0], ("0", "10000000000000000")),
        (pd.Categorical(["2.0", "1", "1.0"], categories=["2.0", "1", "1.0"]), ("2", "1")),
    ],
)
def test_names_are_integers_where_all_are(cells, names):
    assert categories_of(pd.Series(cells)) == names


def test_a_column_of_names_keeps_its_index_and_its_name():
    names = as_names(pd.Series([1.0, None], index=[5, 5], name="site"))
    assert (names.tolist(), names.index.tolist(), names.name) == (["1.0", None], [5, 5], "site")
