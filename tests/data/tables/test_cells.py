import datetime

import numpy as np
import pandas as pd
import pytest

from onepeak.data.tables.cells import (
    categories_of,
    columns_with_points,
    is_formatted,
    number_cells,
    typed,
    with_points,
)
from onepeak.errors import InputError


def column(*texts, commas="never"):
    frame, faults, notes = typed(pd.DataFrame({"x": texts}, dtype=object), commas=commas)
    assert (faults, notes) == ((), ())
    return frame["x"]


def fault_of(*texts):
    frame, (fault,), _ = typed(pd.DataFrame({"x": texts, "y": [*map(str, range(len(texts)))]}, dtype=object))
    assert frame["x"].dtype == float
    assert frame["x"].iloc[list(fault.indices)].isna().all()
    return fault


@pytest.mark.parametrize("missing", ["", "NA", "nan", "N/A", "null", "?"])
def test_missing_values_have_several_spellings(missing):
    assert np.isnan(column("1", missing)[1])
    assert column("red", missing).tolist() == ["red", None]


def test_numbers_and_booleans_have_several_notations():
    assert column("1", " -2.5 ", "1e3", "+4").tolist() == [1.0, -2.5, 1000.0, 4.0]
    assert column("True", "FALSE").tolist() == [True, False]
    np.testing.assert_array_equal(column("true", "", "false").to_numpy(float), [1, np.nan, 0])


def test_zeros_before_integers_show_that_all_are_names():
    assert column("10115", " 01067 ", "", "0").tolist() == ["10115", "01067", None, "0"]
    assert column(*map(str, range(38)), "007", "008", "x1")[40] == "x1"  # no slip in a number
    assert column("007", "1.5", "10").tolist() == [7, 1.5, 10]
    assert column("0", "0.5", "-03", "1e05").tolist() == [0, 0.5, -3, 1e5]


def test_a_slip_in_a_column_of_numbers_is_a_fault_and_no_category():
    assert column(*map(str, range(40)), "025")[40] == 25  # one zero before an integer of many is a slip, too
    assert fault_of(*map(str, range(40)), "007", "3O0").indices == (41,)
    fault = fault_of(*map(str, range(40)), "12O", "", "x")
    assert fault.indices == (40, 42)
    assert fault.sentence == "The column 'x' has numbers except in 2 rows: '12O' (row 40), 'x' (row 42)"
    assert fault_of(*map(str, range(400)), *"abcdefghi").sentence.endswith("'e' (row 404) and 4 more")


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["1,5", "2", "3,25"], "'1,5' (row 0), '3,25' (row 2)"),
        (["999.5", "1,234.50", "-2,000,000.25", "3,000"], "'1,234.50' (row 1), '-2,000,000.25' (row 2), '3,000'"),
        (["12%", "", "7.5 %", "0"], "'12%' (row 0), '7.5 %' (row 2)"),
        ([*map(str, range(99)), "1,234.5"], "'1,234.5' (row 99)"),
        ([*(f"{number},5" for number in range(9)), "n.d."], "'0,5' (row 0), "),
    ],
)
def test_formatted_numbers_are_a_fault_of_the_column(texts, shown):
    fault = fault_of(*texts)
    assert fault.indices == ()  # to leave these rows out would leave small numbers
    assert fault.sentence.startswith(f"The column 'x' has formatted numbers: {shown}")


def test_ranges_and_other_texts_with_such_signs_are_names():
    assert column("0", "1", "2", "3+").tolist() == ["0", "1", "2", "3+"]
    assert column("0-10%", "10-20%", "1,2,3", "10.0.0.1").tolist() == ["0-10%", "10-20%", "1,2,3", "10.0.0.1"]
    assert column("1,2,3", "1,2", "3", "2,3", commas="certain").tolist() == ["1,2,3", "1,2", "3", "2,3"]


def test_decimal_commas_are_read_where_they_may_be_and_a_note_names_the_columns():
    texts = {
        "size": ["12,5", "1,234", ""],
        "age": ["40", "41", "42"],
        "name": ["a", "b", "1,5"],
        "dose": ["0,5", "7", "9"],
    }
    frame, faults, notes = typed(pd.DataFrame(texts, dtype=object), as_text=("dose",), commas="certain")
    assert faults == ()
    assert notes == ("read with decimal commas: size (12,5 is 12.5)",)
    assert frame["size"].tolist()[:2] == [12.5, 1.234]
    assert np.isnan(frame["size"][2])
    assert frame["name"].tolist() == ["a", "b", "1,5"]  # a name stays as it is written
    assert frame["dose"].tolist() == texts["dose"]
    slip = [*(f"{number},5" for number in range(30)), "3O,5"]
    _, (fault,), notes = typed(pd.DataFrame({"x": slip}, dtype=object), commas="certain")
    assert fault.sentence == "The column 'x' has numbers except in 1 row: '3O,5' (row 30)"


@pytest.mark.parametrize(
    "texts", [["1,234", "20,000", "999"], ["12,5", "12.5", "7,5"], ["12,5", "1.234,50"], ["12,5 %", "7,5"]]
)
def test_what_is_not_certain_is_refused_as_ever(texts):
    _, (fault,), _ = typed(pd.DataFrame({"x": texts}, dtype=object), commas="certain")
    assert fault.indices == ()
    assert fault.sentence.startswith(f"The column 'x' has formatted numbers: '{texts[0]}' (row 0)")


@pytest.mark.parametrize(
    ("texts", "commas", "plain"),
    [
        (["12,5", "a.b", "v1.2", "12.5 kg", "", "n/a"], "certain", ["12.5", "a.b", "v1.2", "12.5 kg", "", "n/a"]),
        ([" 12,5", "7 "], "certain", ["12.5", "7"]),
        (["12,5"], "never", None),
        (["12", "7.5"], "always", None),  # there is none
        (["1,234"], "certain", None),
        # one cell that is no thousands shows what the others are
        *(
            (["1,234", proof], "certain", ["1.234", proof.replace(",", ".")])
            for proof in ("0,125", "1234,567", "-1,2345")
        ),
        # a number with a point or two commas leaves in doubt what a comma is
        *((["12,5", other], "always", None) for other in ("1.5", "1.234,50", "1,234,567", "1,234.5", "1.5e3")),
    ],
)
def test_only_commas_of_numbers_count(texts, commas, plain):
    assert with_points(texts, commas=commas) == plain


def test_of_a_table_only_columns_of_numbers_are_read_so():
    frame = pd.DataFrame({"size": ["12,5", "x"], "code": ["1,5", "2,5"], "age": ["1,234", "7"]})
    read, notes = columns_with_points(frame, ["size", "age", "gone"], commas="certain")
    assert read.to_dict("list") == {"size": ["12.5", "x"], "code": ["1,5", "2,5"], "age": ["1,234", "7"]}
    assert notes == ("read with decimal commas: size (12,5 is 12.5)",)
    assert frame["size"][0] == "12,5"  # what was given is left as it is
    assert columns_with_points(frame, ["size", "age"], commas="always")[0]["age"].tolist() == ["1.234", "7"]


def test_nearly_all_that_are_no_numbers_must_be_formatted():
    formatted = ("1,234", "1,234.50", "-2,000,000.25", "1.234,50", "1.234.567", "12%", "7.5 %", "12\u202f%", "1,5E+03")
    assert all(map(is_formatted, formatted))
    assert not any(map(is_formatted, ("12", "12.5", "1e3", "0-10%", "1,2,3", "10.0.0.1", "n.d.", "3+", "")))
    fault = fault_of("7", *["12 %"] * 9, "n.d.")
    assert "--decimal ," in fault.advice
    assert "--category" in fault.advice
    assert column("7", *["12 %"] * 8, "n.d.", "x").dtype == object


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


def numbers(*cells, dtype=object):
    values, wrong = number_cells(pd.Series(cells, index=range(2, len(cells) + 2), name="size", dtype=dtype))
    return values.tolist(), wrong


def test_a_cell_that_is_no_number_spoils_no_other():
    values, wrong = numbers("1", "big", " 2.5 ", "1e3", "61,5")
    np.testing.assert_array_equal(values, [1, np.nan, 2.5, 1000, np.nan])
    assert wrong == {
        1: "`size` must be a number, got 'big'",
        4: "`size` must be a number, got '61,5'. Write numbers as 1234.5, or give --decimal , (`decimal`) for a CSV "
        "with decimal commas",
    }


def test_true_and_false_are_numbers_in_a_column_of_nothing_else():
    values, wrong = numbers("True", "false", "", "maybe")
    np.testing.assert_array_equal(values, [1, 0, np.nan, np.nan])
    assert wrong == {3: "`size` must be a number, got 'maybe'"}
    assert numbers("1", "x" * 200)[1] == {1: f"`size` must be a number, got '{'x' * 40}...'"}
    assert numbers("1", "true")[1] == {1: "`size` must be a number, got 'true'"}


def test_what_float32_cannot_hold_is_wrong_as_text_and_as_number():
    values, wrong = numbers("inf", "-1e39", "3e38")
    np.testing.assert_array_equal(values, [np.nan, np.nan, 3e38])
    assert wrong == {
        0: "`size` must be finite and fit into float32, got inf",
        1: "`size` must be finite and fit into float32, got -1e39",
    }
    assert numbers(1.0, 1e300, dtype=float)[1] == {1: "`size` must be finite and fit into float32, got 1e+300"}


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [((1, None), "Int64"), ((True, None), "boolean"), (("1", None), "string"), ((1.0, None), "category")],
)
def test_types_with_missing_values_of_their_own_are_read(cells, dtype):
    values, wrong = numbers(*cells, dtype=dtype)
    np.testing.assert_array_equal(values, [1, np.nan])
    assert wrong == {}


@pytest.mark.bad_input
@pytest.mark.parametrize("cells", [(datetime.date(2020, 1, 1), None), ({"a": 1},), (1j,)])
def test_other_kinds_of_column_are_refused(cells):
    with pytest.raises(InputError, match=r"A feature must hold .* but the column 'size' holds object such as "):
        numbers(*cells)
