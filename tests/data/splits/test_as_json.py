import json

import numpy as np
import pytest

from onepeak.data.splits.as_json import splits_from_json, splits_to_json
from onepeak.data.splits.split import Split
from onepeak.errors import InputError

RUN = {"train": [0], "valid": [1], "test": [2]}


@pytest.fixture
def three(pictures):
    return pictures([0, 1, 2])


@pytest.fixture
def read(tmp_path):
    def call(content, manifest):
        (tmp_path / "theirs.json").write_text(content if isinstance(content, str) else json.dumps(content))
        return splits_from_json(tmp_path / "theirs.json", manifest)

    return call


def test_the_object_says_what_it_is_about(three):
    run = Split(train=np.array([0]), valid=np.array([2]), test=np.array([1]), split=3, fold=1, seed=5, protocol="mine")
    content = json.loads(splits_to_json([run], three))
    assert content == {
        "format": "onepeak-splits-1",
        "dataset": "mine",
        "items": 3,
        "labels": ["c0", "c1", "c2"],
        "paths": ["images/000000.jpg", "images/000001.jpg", "images/000002.jpg"],
        "runs": [{"protocol": "mine", "seed": 5, "split": 3, "fold": 1, "train": [0], "valid": [2], "test": [1]}],
    }


def test_paths_or_positions_made_elsewhere_are_understood(three, read):
    paths = {"train": ["images/000000.jpg"], "val": ["images\\000001.jpg"], "test": ["./images/000002.jpg"]}
    first, second = read({"runs": [paths, RUN]}, three)
    assert (first.name, second.name) == ("split0-fold0", "split1-fold0")
    assert first.protocol == "theirs.json"
    assert all(np.array_equal(first.parts[part], second.parts[part]) for part in first.parts)


def test_runs_that_only_say_their_fold_are_folds_of_one_split(three, read):
    assert [run.name for run in read({"runs": [{**RUN, "fold": 0}, {**RUN, "fold": 1}]}, three)] == [
        "split0-fold0",
        "split0-fold1",
    ]


@pytest.mark.parametrize(
    "tie",
    [
        {"items": 4},
        {"labels": ["c0", "c1", "c2", "c0"]},
        {"labels": ["young", "grown", "old", None]},  # other names, and as many as there are items
        {"paths": [f"images/00000{item}.jpg" for item in range(4)]},
    ],
    ids=lambda tie: next(iter(tie)),
)
def test_items_may_be_left_out(pictures, read, tie):
    [split] = read({**tie, "runs": [RUN]}, pictures([0, 1, 2, 0]))
    assert [part.tolist() for part in split.parts.values()] == [[0], [1], [2]]


def test_what_goes_by_path_may_leave_items_out(pictures, read):
    paths = {part: [f"images/00000{item}.jpg" for item in items] for part, items in RUN.items()}
    assert read({"runs": [paths]}, pictures([0, 1, 2, 0]))[0].test.tolist() == [2]


@pytest.mark.bad_input
def test_positions_must_name_all_items_where_nothing_ties_them_to_the_data(pictures, rows, read):
    with pytest.raises(
        InputError, match=r"must name every item, .* got 3 of 4\. Add `labels`, .* 'mine', or `paths`\."
    ):
        read({"runs": [RUN]}, pictures([0, 1, 2, 0]))
    with pytest.raises(InputError, match=r"the class of each of the 4 items of 'table'\."):
        read({"paths": None, "runs": [RUN]}, rows(np.zeros((4, 1)), [0, 1, 2, 0]))
    other = {"train": [3], "valid": [1], "test": [2]}
    assert [split.train.tolist() for split in read({"runs": [RUN, other]}, pictures([0, 1, 2, 0]))] == [[0], [3]]


@pytest.mark.bad_input
def test_a_list_of_paths_for_a_table_says_how_many_rows_it_had(rows, read):
    with pytest.raises(InputError, match=r"was made for 3 items, but 'table' has 4"):
        read({"paths": ["a", "b", "c"], "runs": [RUN]}, rows(np.zeros((4, 1)), [0, 1, 2, 0]))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"theirs.json must be valid JSON: "),
        ([RUN], r"must be an object with a non-empty list `runs`"),
        ({"runs": []}, r"must be an object with a non-empty list `runs`"),
        ({"runs": [[0, 1, 2]]}, r"`runs\[0\]` must be an object with train, valid and test"),
        (
            {"runs": [RUN, {**RUN, "test": []}]},
            r"`runs\[1\].test` must be a non-empty list of paths or positions",
        ),
        ({"runs": [{"train": [0], "test": [1]}]}, r"`runs\[0\].valid` must be a non-empty list"),
        (
            {"runs": [{**RUN, "test": [2, "images/000001.jpg"]}]},
            r"`runs\[0\].test` must hold paths only or positions only",
        ),
        ({"runs": [{**RUN, "test": [True]}]}, r"`runs\[0\].test` must hold paths only or positions only"),
        ({"runs": [{**RUN, "test": [3]}]}, r"`runs\[0\].test` must hold positions from 0 to 2, got 3"),
        ({"runs": [{**RUN, "test": ["b.jpg"]}]}, r"it has no 1 item: b.jpg"),
        ({"runs": [{**RUN, "test": [1, 2]}]}, r"`valid` and `test` must share no item, got 1 in both"),
        ({"runs": [{**RUN, "seed": "one"}]}, r"`seed` must be an integer >= 0, got 'one'"),
        ({"items": 9, "runs": [RUN]}, r"was made for 9 items, but 'mine' has 3"),
        ({"labels": ["c0", "c0", "c2"], "runs": [RUN]}, r"other labels than 'mine' for 1 item: .*c0 there, c1 here"),
        ({"labels": ["c0", "c1"], "runs": [RUN]}, r"must have a label for each of its 3 items, got 2"),
        ({"paths": ["z.jpg"], "runs": [RUN]}, r"it has no 1 item: z.jpg"),
    ],
)
def test_objects_that_cannot_be_are_refused(three, content, message, read):
    with pytest.raises(InputError, match=message):
        read(content, three)
