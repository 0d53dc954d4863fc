import pytest

from onepeak._listing import counted, counted_splits, duration, listed


def test_a_short_list_is_shown_whole():
    assert listed([1, "b"]) == "1, b"


def test_a_list_at_the_limit_has_no_rest():
    assert listed(range(10)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"


def test_a_long_list_ends_in_a_number():
    assert listed(range(1_234), limit=1) == "0 and 1,233 more"


def test_the_plural_follows_the_number():
    assert (counted(0, "row"), counted(1, "class"), counted(2, "class")) == ("0 rows", "1 class", "2 classes")


def test_folds_are_not_counted_as_splits():
    assert counted_splits([(0, 0)]) == "1 split"
    assert counted_splits([(0, 0), (1, 0), (1, 0)]) == "2 splits"
    assert counted_splits([(0, fold) for fold in range(5)]) == "5 folds"
    assert counted_splits([(0, 0), (0, 1), (1, 0), (1, 1)]) == "2 splits (4 folds)"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (59.6, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (47 * 3600, "47 h 0 min"),
        (7 * 86400 + 3600, "7 d 1 h"),
    ],
)
def test_times_are_told_in_the_two_largest_units(seconds, text):
    assert duration(seconds) == text
