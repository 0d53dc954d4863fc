from dataclasses import replace

import numpy as np
import pytest

from onepeak.data.manifest import FeatureRows
from onepeak.serving.out_of_range import unknown_notes, unlike_notes, unlike_rows
from onepeak.training.table_encoder import TableEncoder

START = "unlike the training data, do not rely on such predictions: "


def test_where_nothing_is_unlike_nothing_is_said():
    for samples in ([], [("a.png", ()), ("b.png", None)]):
        assert unlike_notes(samples, 5, source_name="path") == unlike_notes(samples, 1, source_name="path") == ()


def test_images_are_counted_by_statistic_and_the_first_are_named():
    found = [(f"{number}.png", ("contrast",)) for number in range(11)]
    found += [("usual.png", ()), ("last.png", ("grain", "contrast"))]
    first = ", ".join(f"{number}.png" for number in range(10))
    assert unlike_notes(found, 1200, source_name="path") == (
        f"{START}12 of 1,200 images, by contrast (12), grain (1): {first} and 2 more",
    )


@pytest.mark.parametrize(
    ("source_name", "sources", "told"),
    [
        ("item", (0, "b.png"), "images, by x (2): item 0, b.png"),
        ("line", (2, 7), "rows, by x (2): line 2, line 7"),
        ("row", ("a", 7), "rows, by x (2): row a, row 7"),
    ],
)
def test_files_are_called_by_their_names_and_others_by_their_numbers(source_name, sources, told):
    samples = [(source, ("x",)) for source in sources]
    assert unlike_notes(samples, 3, source_name=source_name) == (f"{START}2 of 3 {told}",)


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


def test_a_model_that_cannot_tell_says_so(model, table_model):
    assert unknown_notes(model.description) == unknown_notes(table_model.description) == ()
    (note,) = unknown_notes(replace(model.description, image_range=None))
    assert note.startswith("cannot check whether images are unlike the training: ")
    table = replace(table_model.description.table, lowest=(), highest=())
    (note,) = unknown_notes(replace(table_model.description, table=table))
    assert note.startswith("cannot check whether numbers are unlike the training: ")
