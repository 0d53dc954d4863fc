import pandas as pd
import pytest
import torch

from onepeak.data.costs import costs_of
from onepeak.errors import InputError

CLASSES = ("low", "middle", "high")
COSTS = ((0.0, 1.0, 2.5), (4.0, 0.0, 1.0), (10.0, 5.0, 0.0))


@pytest.fixture
def written(write):
    return lambda text: write("costs.csv", text)


@pytest.mark.parametrize(
    "text",
    [
        "0,1,2.5\n4,0,1\n10,5,0\n",
        "0; 1; 2.5\n4; 0; 1\n\n10; 5; 0",
        "true\\decided,low,middle,high\nlow,0,1,2.5\nmiddle,4,0,1\nhigh,10,5,0\n",
        ",high,low,middle\nhigh,0,10,5\nmiddle,1,4,0\nlow,2.5,0,1\n",
    ],
    ids=["numbers alone", "semicolons and a blank line", "with names", "names in another order"],
)
def test_a_file_is_read_with_and_without_names(written, text):
    assert costs_of(written(text), CLASSES) == COSTS
    assert costs_of(str(written(text)), CLASSES) == COSTS


def test_arrays_tensors_lists_and_frames_are_the_same_table():
    for given in (COSTS, torch.tensor(COSTS), torch.tensor(COSTS).numpy(), pd.DataFrame(COSTS)):
        assert costs_of(given, CLASSES) == COSTS
    named = pd.DataFrame(COSTS, index=CLASSES, columns=CLASSES)
    assert costs_of(named.loc[["high", "low", "middle"], ["middle", "high", "low"]], CLASSES) == COSTS
    assert costs_of(None, CLASSES) is None


def test_names_that_are_numbers_are_told_from_costs_by_the_size_of_the_table(written):
    assert costs_of(written(",1,0\n1,0,7\n0,3,0\n"), ("0", "1")) == ((0.0, 3.0), (7.0, 0.0))
    assert costs_of(written("1,0\n0,7\n"), ("0", "1")) == ((1.0, 0.0), (0.0, 7.0))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n1,0\n", r"`cost` must have 3 rows and 3 columns, .* got 2 rows of 2 in .*costs\.csv\."),
        ("0,1,2\n1,0\n2,1,0\n", r"got 3 rows of 2, 3 in"),
        ("0,1,2,3\n" * 4, r"The first row of `cost` must name the classes, low < middle < high, got 1, 2, 3 in"),
        (",low,middle,high\nlow,0,1,2\nmid,1,0,1\nhigh,2,1,0\n", r"The first column of `cost` .* got low, mid, high"),
        ("0,1,2\n1,zero,1\n2,1,0\n", r"`cost` must hold numbers, got 'zero' in"),
        ("0,1,2\n1,,1\n2,1,0\n", r"`cost` must hold numbers, got '' in"),
        ("0,1,inf\n1,0,1\n2,1,0\n", r"`cost` must hold finite numbers, got inf in"),
        ("", r"costs\.csv is empty"),
    ],
)
def test_a_table_that_cannot_be_meant_is_answered_with_what_is_wrong(written, text, message):
    with pytest.raises(InputError, match=message):
        costs_of(written(text), CLASSES)


@pytest.mark.bad_input
def test_what_is_no_table_is_named(tmp_path):
    with pytest.raises(InputError, match=r"`cost` must be a CSV file, got .*gone\.csv: nothing there"):
        costs_of(tmp_path / "gone.csv", CLASSES)
    with pytest.raises(InputError, match=r"`cost` must be a CSV file, got .*: a folder"):
        costs_of(tmp_path, CLASSES)
    for given, kind in ((3, "int"), ([1, 2, 3], "list"), ([["a"]], "list")):
        with pytest.raises(InputError, match=rf"`cost` must be a table of numbers: .* got {kind}\."):
            costs_of(given, CLASSES)
    with pytest.raises(InputError, match=r"got 4 rows of 3 in the array"):
        costs_of(torch.zeros(4, 3), CLASSES)
