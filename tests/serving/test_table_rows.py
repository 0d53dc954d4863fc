from dataclasses import replace

import numpy as np
import pandas
import pytest

from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError
from onepeak.serving.table_rows import rows_of, rows_of_file, rows_of_frame, unlike_rows
from onepeak.training.table_encoder import TableEncoder
from table_models import table_model

TRAINED = FeatureRows(
    columns=("size", "tone"),
    values=np.array([[1.0, 0], [2, 1], [3, 2]]),
    categories={"tone": ("1", "2", "dark")},
)
ENCODER = TableEncoder.learn(TRAINED)


def test_rows_of_a_text_file_are_called_by_the_line_an_editor_shows(tmp_path):
    (tmp_path / "rows.csv").write_text("size,tone\n1,dark\n\n2,1\n")
    found = rows_of(tmp_path / "rows.csv", ENCODER)
    assert (found.source_name, found.sources) == ("line", (2, 4))
    named = rows_of(pandas.DataFrame({"size": [1.0], "tone": ["1"]}, index=["patient7"]), ENCODER)
    assert (named.source_name, named.sources) == ("row", ("patient7",))


def test_what_stands_for_missing_in_a_file_is_missing_in_a_category_too(tmp_path):
    (tmp_path / "rows.csv").write_text("size;tone\nNA;n/a\n1.5; dark \n")
    found = rows_of_file(tmp_path / "rows.csv", ENCODER)
    np.testing.assert_array_equal(found.rows.values, np.array([[np.nan, np.nan], [1.5, 2]]))
    assert found.notes == ("1 row without any value: line 2",)


def test_a_frame_and_its_parquet_file_hold_the_same_names(tmp_path):
    frame = pandas.DataFrame({"size": [1.0, 2.0, 3.0], "tone": [" dark", "NA", "1 "]})
    frame.to_parquet(tmp_path / "rows.parquet")
    for inputs in (frame, tmp_path / "rows.parquet", frame.to_dict("records")):
        found = rows_of(inputs, ENCODER).rows.values
        np.testing.assert_array_equal(found, np.array([[1, 2], [2, np.nan], [3, 0]]))


def test_a_bad_row_of_a_file_is_told_of_and_the_others_are_read(tmp_path):
    (tmp_path / "rows.csv").write_text("id,size,tone\na,1,dark\nb,big,1\nc,2\nd,inf,2\ne,3,1\n")
    found = rows_of_file(tmp_path / "rows.csv", ENCODER, keep=["id"])
    assert found.errors == {
        1: "`size` must be a number, got 'big'",
        2: "must have 3 fields, like the header, got 2",
        3: "`size` must be finite and fit into float32, got inf",
    }
    np.testing.assert_array_equal(found.rows.values[[0, 4]], np.array([[1, 2], [3, 0]]))
    assert (found.sources, found.empty, found.notes) == ((2, 3, 4, 5, 6), frozenset(), ())
    assert found.passthrough.rows == (("a",), ("b",), (None,), ("d",), ("e",))
    frame = pandas.DataFrame({"tone": ["dark", "1", "2"], "size": ["1.5", "big", None], "id": [7, 8, 9]})
    frame.to_parquet(tmp_path / "rows.parquet")
    found = rows_of_file(tmp_path / "rows.parquet", ENCODER, keep=["id"])
    assert found.errors == {1: "`size` must be a number, got 'big'"}
    np.testing.assert_array_equal(found.rows.values[[0, 2]], np.array([[1.5, 2], [np.nan, 1]]))
    assert (found.source_name, found.sources) == ("row", (1, 2, 3))
    assert found.passthrough.rows == ((7,), (8,), (9,))
    encoder = TableEncoder.learn(FeatureRows(columns=("size", "age"), values=np.array([[1.0, 0], [2, 1]])))
    (tmp_path / "rows.csv").write_text('age,size\n"6,5",big\n')
    (error,) = rows_of_file(tmp_path / "rows.csv", encoder).errors.values()
    assert error.startswith("`size` must be a number, got 'big'; `age` must be a number, got '6,5'. Write numbers as")


def test_decimal_commas_are_read_in_columns_of_numbers_and_what_is_kept_stays_as_it_is(tmp_path):
    (tmp_path / "rows.csv").write_text("tone;size;dose\ndark;1,5;2,5\n1;1,234;\n")
    found = rows_of_file(tmp_path / "rows.csv", ENCODER, keep=["size", "dose"])
    np.testing.assert_array_equal(found.rows.values[:, 0], [1.5, 1.234])
    assert found.errors == {}
    assert found.notes[0] == "read with decimal commas: size (1,5 is 1.5)"
    assert found.passthrough.rows == (("1,5", "2,5"), ("1,234", None))


def test_missing_values_are_counted_and_nearly_empty_rows_are_named(tmp_path):
    encoder = TableEncoder.learn(FeatureRows(columns=("a", "b", "c"), values=np.eye(3)))
    lines = ["1,2,1", "1,,1", "1,,", ",,", "x,,", ",NA,1", "?,,NA"]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c", *lines]) + "\n")
    found = rows_of_file(tmp_path / "rows.csv", encoder)
    assert found.empty == {3, 6}
    assert set(found.errors) == {4}
    assert found.notes == (
        "missing values in 3 of 7 rows, filled in as in training",
        "2 rows with less than half of the values: line 4, 7",
        "2 rows without any value: line 5, 8",
    )


@pytest.mark.bad_input
def test_where_all_rows_are_wanted_the_first_bad_one_is_named(tmp_path):
    (tmp_path / "rows.csv").write_text("size,tone\n1,dark\nbig,1\n")
    with pytest.raises(
        InputError, match=r"line 3 of the inputs has no prediction: `size` must be a number, got 'big'\.$"
    ):
        rows_of(tmp_path / "rows.csv", ENCODER)
    (tmp_path / "rows.csv").write_text("size,tone\n1,dark\nbig,1\n2\nold,1\n")
    with pytest.raises(InputError, match=r"got 'big' \(2 more rows without\)\.$"):
        rows_of(str(tmp_path / "rows.csv"), ENCODER)


@pytest.mark.bad_input
def test_where_all_rows_are_wanted_an_empty_one_is_a_bad_one(tmp_path):
    columns = {"size": [1.0, None, None], "tone": ["dark", "2", "pale"]}  # the model has not seen pale
    frame = pandas.DataFrame(columns, index=["a", "b", "c"])
    with pytest.raises(InputError, match="row c of the inputs has no prediction: it has no value in any column"):
        rows_of(frame, ENCODER)
    frame.to_csv(tmp_path / "rows.csv")
    with pytest.raises(InputError, match="line 4 of the inputs has no prediction: it has no value in any column"):
        rows_of(tmp_path / "rows.csv", ENCODER)
    assert len(rows_of(frame[:2], ENCODER).rows) == 2


@pytest.mark.bad_input
def test_inputs_that_are_wrong_as_a_whole_are_one_error(tmp_path):
    (tmp_path / "rows.csv").write_text("size,hue\n1,dark\nbig,1\n")
    pandas.DataFrame({"size": pandas.to_datetime(["2020-01-01"]), "tone": "1"}).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.png").touch()
    twice = pandas.DataFrame([[1.0, "dark", 2.0, 3.0]], columns=["size", "tone", "size", "other"])
    for inputs, message in (
        (tmp_path / "rows.csv", "The table must have the columns size, tone, it lacks tone"),
        (tmp_path / "a.parquet", "the column 'size' holds datetime64"),
        (tmp_path, r"reads rows of a table, from a CSV or parquet file, got a folder: "),
        (tmp_path / "a.png", r"reads rows of a table, from a CSV or parquet file, got another file: .*png"),
        (twice, "`inputs` must have every column once, got size more than once"),
    ):
        with pytest.raises(InputError, match=message):
            rows_of(inputs, ENCODER)


def test_new_names_and_far_numbers_are_unlike_the_training_and_missing_values_are_not(tmp_path):
    (tmp_path / "rows.csv").write_text("tone,size\n1,\npale,1.5\ndark,999\n,1\nNA,1\nold,999\n")
    found = rows_of_file(tmp_path / "rows.csv", ENCODER)
    assert found.unlike == ((), ("tone",), ("size",), (), (), ("size", "tone"))
    assert found.notes[0] == "2 names of the column 'tone' not seen in training, taken as missing: old, pale"
    assert found.notes[1].startswith("missing values in 5 of 6 rows")
    whole = rows_of_frame(pandas.DataFrame({"size": [1.5, None], "tone": ["1", "2"]}), ENCODER)
    assert whole.unlike == ((), ())
    assert whole.notes == ("missing values in 1 of 2 rows, filled in as in training",)


def test_a_row_is_unlike_by_far_numbers_and_new_names_and_unknown_to_an_older_model_unless_by_names():
    columns, categories = ("a", "b", "tone"), {"tone": ("x", "y")}
    values = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    encoder = TableEncoder.learn(FeatureRows(columns=columns, values=values, categories=categories))
    asked = FeatureRows(columns=columns, values=np.array([[9, 0, 0], [2, 1, np.nan], [-9, 9, np.nan]]))
    new = np.array([[False] * 3, [False] * 3, [False, False, True]])
    assert unlike_rows(asked, encoder) == (("a",), (), ("a", "b"))
    assert unlike_rows(asked, encoder, new=new) == (("a",), (), ("a", "b", "tone"))
    older = replace(encoder, lowest=(), highest=())
    assert unlike_rows(asked, older, new=new) == (None, None, ("tone",))


@pytest.fixture
def written(tmp_path):
    """Writes a CSV with commas between its cells; gives its path."""

    def write(*rows):
        (tmp_path / "rows.csv").write_text("\n".join(["age,tone,dose", *rows]))
        return tmp_path / "rows.csv"

    return write


def test_a_model_reads_decimal_commas_where_it_is_said_as_its_message_advises(written):
    model, file = table_model("ce"), written('"1,234",pale,"-200,5"', "40,dark,-150")
    with pytest.raises(InputError, match=r"or give --decimal , \(`decimal`\) for a CSV"):
        model.predict(file)
    said = model.predict(file, decimal=",")
    points = model.predict({"age": [1.234, 40], "tone": ["pale", "dark"], "dose": [-200.5, -150]})
    np.testing.assert_array_equal(said.log_probs, points.log_probs)
    assert said.sources == (2, 3)
    assert "read with decimal commas: age, dose (1,234 is 1.234)" in said.notes


@pytest.mark.bad_input
def test_what_has_no_decimal_commas_is_refused(model, written):
    with pytest.raises(InputError, match="`decimal` has no effect for inputs that are not a CSV file, got dict"):
        table_model("ce").predict({"age": [40], "tone": ["pale"], "dose": [-200]}, decimal=",")
    with pytest.raises(InputError, match="`decimal` has no effect for an image model: leave it out"):
        model.predict("image.png", decimal=",")
    with pytest.raises(InputError, match=r"`decimal` must be ',' or left out, got ';'"):
        table_model("ce").predict(written("40,pale,-200"), decimal=";")
