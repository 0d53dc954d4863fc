import numpy as np
import pandas as pd

from onepeak.data.feature_notes import kinds_of
from onepeak.data.features import encode_features
from onepeak.data.manifest import FeatureRows


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


def test_of_many_columns_the_first_are_named():
    many = columns_of(**{f"c{number}": np.arange(3) / 7 for number in range(14)})
    assert kinds_of(many) == (f"read as numbers: {', '.join(f'c{number}' for number in range(10))} and 4 more",)


def test_few_integers_in_many_rows_may_be_names():
    at = np.arange(100.0)
    gaps = np.where(at < 40, np.nan, at % 4)
    rows = columns_of(site=at % 3, ward=gaps, yes=at % 2, ten=at % 10, eleven=at % 11, half=at % 3 / 2)
    assert kinds_of(rows)[1:] == (
        "few different integers in site (3), ward (4), ten (10): if they are names, say so with `category` "
        "(--category COLUMN)",
    )
    assert kinds_of(columns_of(site=at[:29] % 3)) == ("read as numbers: site",)  # too few rows to say


def test_a_note_on_many_columns_looks_at_each_once():
    class Columns(tuple):
        def index(self, *_):
            raise AssertionError("each search for a name goes through all of them")

    many = Columns(f"c{number}" for number in range(50))
    rows = FeatureRows(columns=many, values=np.tile(np.arange(60.0)[:, None] % 3, 50))
    assert "c0 (3), c1 (3)" in kinds_of(rows)[1]


def test_integers_that_all_differ_may_be_an_id_and_no_others():
    at = np.arange(60.0)
    mixed = (at * 7) % 60
    twice = np.where(at == 59, mixed[0], mixed)
    (_, note) = kinds_of(columns_of(policy=1000 + mixed, cost=1000.5 + mixed, twice=twice))
    told = "a different value in every row, as ids have, in {}: leave ids out with `drop` (--drop COLUMN)"
    assert note == told.format("policy")
    gap = np.where(at > 55, np.nan, mixed)
    assert kinds_of(columns_of(policy=mixed, other=gap))[-1] == told.format("policy, other")


def test_of_few_rows_only_what_rises_by_one_step_may_be_an_id():
    step, mixed = 100 + 5 * np.arange(11.0), (np.arange(11.0) * 7) % 11
    (_, note) = kinds_of(columns_of(step=step, mixed=mixed))
    assert "as ids have, in step:" in note
    assert len(kinds_of(columns_of(step=step[:10]))) == 1


def test_names_are_no_ids():
    rows = FeatureRows(
        columns=("code",), values=np.arange(60.0)[:, None], categories={"code": tuple(map(str, range(60)))}
    )
    assert kinds_of(rows) == ("read as categories: code",)
