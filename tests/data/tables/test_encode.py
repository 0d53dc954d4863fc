import datetime

import numpy as np
import pandas as pd
import pytest

from onepeak.data.manifest import FeatureRows
from onepeak.data.tables.cells import names_of
from onepeak.data.tables.encode import cell_fault, encode_features, encode_like, feature_faults, kinds_of
from onepeak.errors import InputError


def test_every_kind_of_column_becomes_float64():
    frame = pd.DataFrame(
        {
            "number": [1, 2, 3],
            "gap": [0.5, None, 1.5],
            "truth": [True, False, True],
            "maybe": pd.array([True, None, False], dtype="boolean"),
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "text": ["b", None, "a"],
            "dtype": pd.Categorical(["low", "high", "low"], categories=["low", "high", "top"]),
            "mixed": np.array([1, 2.5, None], dtype=object),
        }
    )
    rows, _ = encode_features(frame)
    expected = [
        [1, 0.5, 1, 1, 1, 1, 0, 1],
        [2, np.nan, 0, np.nan, np.nan, np.nan, 1, 2.5],
        [3, 1.5, 1, 0, 3, 0, 0, np.nan],
    ]
    np.testing.assert_array_equal(rows.values, np.array(expected))
    assert rows.values.dtype == np.float64
    assert rows.categories == {"text": ("a", "b"), "dtype": ("low", "high", "top")}


def test_identifiers_and_saved_indexes_are_left_out_with_a_note():
    frame = pd.DataFrame(
        {
            "": range(12),
            "number": range(1, 13),
            "patient": [f"p{i}" for i in range(12)],
            "comment": [f"c{i // 2 if i > 9 else i}" for i in range(12)],
            "size": [3.0, 1.0] * 6,
        }
    )
    rows, notes = encode_features(frame)
    assert rows.columns == ("size",)
    assert notes[:2] == (
        "left out, as text that hardly repeats: patient, comment; if one of them names images, give it as `path` "
        "(--path COLUMN)",
        "left out, as a count of the rows: (no name), number",
    )


@pytest.mark.parametrize(
    "written",
    [
        *("2024-03-01", "2024/3/1", "01.03.2024", "3/1/2024", "03/01/24"),
        *("2024-03-01 12:30", "2024-03-01T12:30:05.25Z", "1-3-2024 9:05 PM", "2024-03-01T12:30:00+01:00"),
    ],
)
def test_dates_are_left_out_in_however_few_rows_and_a_note_says_what_to_give(written):
    frame = pd.DataFrame({"start": [written, None, written], "size": [1.5, 2.5, 3.5]})
    rows, notes = encode_features(frame)
    assert rows.columns == ("size",)
    told = "left out, as dates: start; to use them, add what matters as numbers: year, month, age in days"
    assert notes[0] == told
    many = pd.DataFrame({"start": [written] * 18 + ["unknown", "later"], "size": np.arange(20) / 7})
    assert encode_features(many)[1][0] == told
    assert encode_features(frame, named=["start"])[0].columns == ("start", "size")
    others = pd.DataFrame({"version": ["1.2.3", "1.2.10"], "span": ["2024-2025", "2025-2026"], "day": ["1.5.", "2.5."]})
    assert encode_features(others)[0].columns == ("version", "span", "day")


DIGITS = ([1, 2], [1.0, 2.0], ["1", "2"], ["1.0", "2.0"], pd.Categorical([1.0, 2.0]), pd.array([1, 2], dtype="Int64"))


@pytest.mark.parametrize("values", DIGITS, ids=repr)
def test_names_in_digits_are_the_same_whatever_they_come_as(values):
    frame = pd.DataFrame({"site": values})
    learnt, _ = encode_features(frame.assign(site=names_of(frame["site"])), named=["site"])
    assert learnt.categories == {"site": ("1", "2")}
    for names in (("2", "1"), ("2.0", "1.0"), ("2", "x", "1.0")):  # as earlier models have them, too
        rows, notes, _ = encode_like(frame, columns=["site"], categories={"site": names})
        assert (rows.values[:, 0].tolist(), notes) == ([len(names) - 1, 0], ())


@pytest.mark.parametrize("kind", [object, pd.CategoricalDtype(["NA", "B", "B ", " A"])])
@pytest.mark.parametrize("named", [(), ("site",)])
def test_spaces_around_names_and_what_stands_for_nothing_are_the_same_in_training_and_after(kind, named):
    frame = pd.DataFrame({"site": pd.Series([" A", "B", "NA", "B ", None], dtype=kind)})
    learnt, _ = encode_features(frame, named=named)
    names = ("A", "B") if kind is object else ("B", "A")
    assert learnt.categories == {"site": names}
    expected = [names.index("A"), names.index("B"), np.nan, names.index("B"), np.nan]
    np.testing.assert_array_equal(learnt.values[:, 0], expected)
    again, notes, _ = encode_like(frame, columns=learnt.columns, categories=learnt.categories)
    np.testing.assert_array_equal(again.values, learnt.values)
    assert notes == ()


def test_a_name_is_looked_up_as_it_stands_before_it_is_an_integer():
    frame = pd.DataFrame({"dose": ["1.0", "1", "1.00", "007", "7.0"]})
    rows, notes, _ = encode_like(frame, columns=["dose"], categories={"dose": ("1", "1.0", "007")})
    np.testing.assert_array_equal(rows.values[:, 0], [1, 0, 0, 2, np.nan])
    assert notes == ("1 name of the column 'dose' not seen in training, taken as missing: 7",)


def test_cells_without_a_number_are_named_by_column_and_spoil_no_other():
    frame = pd.DataFrame({"a": ["1", "x"], "b": ["inf", "2"], "c": ["y", "z"], "site": [" 0012", "0012"]}, dtype=object)
    rows, _, wrong = encode_like(frame, columns=["a", "b", "site"], categories={"site": ("0012",)})
    np.testing.assert_array_equal(rows.values, [[1, np.nan, 0], [np.nan, 2, 0]])
    assert wrong == {
        "a": {1: "`a` must be a number, got 'x'"},
        "b": {0: "`b` must be finite and fit into float32, got inf"},
    }
    fault = cell_fault(frame["a"].set_axis([2, 3]), wrong["a"])
    assert fault.sentence == "The column 'a' must be finite numbers that fit into float32, 1 row has none: 'x' (row 3)"


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["file", "the mask"])
def test_a_column_of_image_names_under_another_name_is_pointed_out(name):
    frame = pd.DataFrame({name: [f"{i}.JPG" for i in range(20)], "x": [1.0] * 20})
    flag = name if " " not in name else f"'{name}'"
    with pytest.raises(InputError, match=rf"'{name}' names images, such as '0.JPG': .* `path` \(--path {flag}\)"):
        encode_features(frame)


@pytest.mark.bad_input
def test_a_table_must_have_a_feature():
    with pytest.raises(InputError, match=r"must have a column that is a feature, it has none\.$"):
        encode_features(pd.DataFrame(index=range(20)))
    days = [f"2024-01-{day}" for day in range(10, 30)]
    with pytest.raises(InputError, match="The table must have the columns n, it lacks n"):
        encode_like(pd.DataFrame({"m": [1]}), columns=["n"], categories={})
    message = r"it has none: left out, as dates: day; .*; left out, as a count of the rows: id\.$"
    with pytest.raises(InputError, match=message):
        encode_features(pd.DataFrame({"id": range(20), "day": days}))


def test_a_count_of_rows_is_one_though_rows_were_left_out_of_the_table():
    kept = [*range(4), *range(6, 20)]
    frame = pd.DataFrame(
        {"id": [place + 1 for place in kept], "x": np.linspace(0, 1, len(kept)), "n": range(len(kept))}
    )
    rows, notes = encode_features(frame, positions=kept)
    assert rows.columns == ("x", "n")
    assert "left out, as a count of the rows: id" in notes


def test_every_column_reports_its_fault():
    dates = [datetime.datetime(2020, 1, 1)] * 3
    frame = pd.DataFrame(
        {
            "x": [1.0, np.inf, 2.0],
            "when": dates,
            "tone": ["a", "b", "c"],
            "y": [1e300, None, -1e300],
            "odd": [{"a": 1}, {}, None],
            "z": [1j, 2j, 3j],
        }
    )
    infinite, when, large, odd, z = feature_faults(frame.set_index(pd.Index([5, 6, 7])))
    assert (infinite.indices, infinite.reason) == ((1,), "no usable number in 'x'")
    assert infinite.sentence.endswith("fit into float32, 1 row has none: inf (row 6)")
    assert large.sentence.endswith("2 rows have none: 1e+300 (row 5), -1e+300 (row 7)")
    assert (when.indices, odd.indices, z.indices, large.indices) == ((), (), (), (0, 2))
    assert "the column 'when' holds datetime64" in when.sentence
    assert "the column 'odd' holds object such as {'a': 1}" in odd.sentence
    assert "the column 'z' holds complex128" in z.sentence


def test_formatted_numbers_as_text_are_a_fault_unless_they_are_declared_names():
    frame = pd.DataFrame(
        {
            "income": ["1,234.50", "999", None],
            "share": pd.array(["12 %", "7 %", "3%"], dtype="string"),
            "level": pd.Categorical(["12 %", "7 %", "12 %"]),
            "tone": ["red", "blue", "1,5"],
            "digits": ["1", "2", "3"],
        },
        index=[1, 2, 3],
    )
    assert [fault.sentence for fault in feature_faults(frame)] == [
        "The column 'income' has formatted numbers: '1,234.50' (row 1)",
        "The column 'share' has formatted numbers: '12 %' (row 1), '7 %' (row 2), '3%' (row 3)",
    ]


def test_columns_that_tell_nothing_missing_values_and_repeated_rows_are_noted():
    frame = pd.DataFrame(
        {"same": [2, 2, 2], "none": [None] * 3, "gap": [1.0, None, 1.0], "same too": [None, "x", None]}
    )
    _, notes = encode_features(frame)
    assert notes == (
        "read as numbers: same, none, gap",
        "read as categories: same too",
        "1 column without any value: none",
        "3 columns with one value only: same, gap, same too",
        "6 missing values in none, gap, same too",
        "1 row with the same features as an earlier one",
    )


def columns_of(**columns):
    return FeatureRows(columns=tuple(columns), values=np.stack(list(columns.values()), axis=1).astype(float))


def test_few_integers_in_many_rows_may_be_names():
    at = np.arange(100.0)
    gaps = np.where(at < 40, np.nan, at % 4)
    rows = columns_of(site=at % 3, ward=gaps, yes=at % 2, ten=at % 10, eleven=at % 11, half=at % 3 / 2)
    assert kinds_of(rows)[1:] == (
        "few different integers in site (3), ward (4), ten (10): if they are names, say so with `category` "
        "(--category COLUMN)",
    )
    assert kinds_of(columns_of(site=at[:29] % 3)) == ("read as numbers: site",)  # too few rows to say


def test_integers_that_all_differ_may_be_an_id_and_no_others():
    at = np.arange(60.0)
    mixed = (at * 7) % 60
    twice = np.where(at == 59, mixed[0], mixed)
    (_, note) = kinds_of(columns_of(policy=1000 + mixed, cost=1000.5 + mixed, twice=twice))
    told = "a different value in every row, as ids have, in {}: leave ids out with `drop` (--drop COLUMN)"
    assert note == told.format("policy")
    ids = FeatureRows(columns=("code",), values=at[:, None], categories={"code": tuple(map(str, range(60)))})
    assert kinds_of(ids) == ("read as categories: code",)
    gap = np.where(at > 55, np.nan, mixed)
    assert kinds_of(columns_of(policy=mixed, other=gap))[-1] == told.format("policy, other")
    step, mixed = 100 + 5 * np.arange(11.0), (np.arange(11.0) * 7) % 11
    assert kinds_of(columns_of(step=step, mixed=mixed))[1:] == (told.format("step"),)  # of few, what rises by one step
    assert len(kinds_of(columns_of(step=step[:10]))) == 1
