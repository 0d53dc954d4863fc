import numpy as np
import pandas as pd
import pytest
import torch

from onepeak.data.source import DataSource
from onepeak.data.splits import item_digests
from onepeak.data.splits.copies import data_digest
from onepeak.data.tables.frame import from_frame
from onepeak.errors import InputError
from onepeak.training.evaluate import medians


@pytest.fixture
def write(write):
    return lambda text: write("a.csv", text)


RATED = "x,ann,bob,cy\n1,low,low,\n2,low,high,\n3,NA,mid,\n4,high,mid,high\n"


def test_ratings_become_a_distribution_whose_median_is_the_label(write):
    data = DataSource(write(RATED), raters="ann,bob,cy", order="low,mid,high").open()
    np.testing.assert_allclose(data.distribution.probs, [[1, 0, 0], [0.5, 0, 0.5], [0, 1, 0], [0, 1 / 3, 2 / 3]])
    assert data.labels.tolist() == [0, 0, 1, 2]  # of two, the lower
    assert data.distribution.ratings.tolist() == [[0, 0, -1], [0, 2, -1], [-1, 1, -1], [2, 1, 2]]
    assert (data.items.columns, data.label_column, data.label_as) == (("x",), "ann,bob,cy", "raters")
    assert "labels of 3 raters (ann, bob, cy), of whom two agree on 40.0% of samples" in data.notes[0]
    part = data.take([3, 0])
    assert part.distribution.ratings.tolist() == [[2, 1, 2], [0, 0, -1]]
    assert part.distribution.probs.tolist() == data.distribution.probs[[3, 0]].tolist()


def test_probabilities_and_counts_of_votes_are_the_same_distribution(write):
    votes = DataSource(write("x,p_a,p_b,p_c\n1,0,2,2\n2,3,0,1\n3,0,0,5\n"), label_probs="p_*").open()
    probs = DataSource(write("x,p_a,p_b,p_c\n1,0,.5,.5\n2,.75,0,.25\n3,0,0,1\n"), label_probs="p_a,p_b,p_c").open()
    np.testing.assert_allclose(votes.distribution.probs, probs.distribution.probs)
    assert votes.classes == probs.classes == ("p_a", "p_b", "p_c")
    assert votes.labels.tolist() == probs.labels.tolist() == [1, 0, 2]
    assert (votes.items.columns, votes.label_as, votes.distribution.ratings) == (("x",), "label_probs", None)
    with_commas = write("x;p_a;p_b\n1,5;0,25;0,75\n2,5;1;0\n")
    german = DataSource(with_commas, label_probs="p_*").open()
    assert german.distribution.probs.tolist() == [[0.25, 0.75], [1, 0]]
    again = DataSource(with_commas, label_probs="p_*").open(like=german.items)
    assert again.distribution.probs.tolist() == german.distribution.probs.tolist()
    named = from_frame(pd.DataFrame({"x": [1.0, 2], "p0": [0.4, 1], "p1": [0.6, 0]}), label_probs="p0,p1", order="a,b")
    assert (named.classes, named.labels.tolist()) == (("a", "b"), [1, 0])


def test_the_median_of_many_votes_is_not_shifted_by_rounding(write):
    votes = np.random.default_rng(0).integers(0, 7, (500, 6)) + np.eye(6, dtype=int)[0]
    table = pd.DataFrame(votes, columns=[f"p_{k}" for k in range(6)]).assign(x=1.0)
    found = from_frame(table, label_probs="p_*").labels
    np.testing.assert_array_equal(found, (2 * votes.cumsum(axis=1) < votes.sum(axis=1, keepdims=True)).sum(axis=1))


def test_training_measures_against_the_labels_of_the_data_where_votes_are_tied():
    votes = np.random.default_rng(0).multinomial(12, np.ones(5) / 5, size=2000)
    data = from_frame(pd.DataFrame(votes, columns=[f"p_{k}" for k in range(5)]).assign(x=1.0), label_probs="p_*")
    assert medians(torch.tensor(data.distribution.probs, dtype=torch.float32)).tolist() == data.labels.tolist()


def test_data_that_differ_in_their_distributions_alone_have_different_digests(write):
    one = DataSource(write(RATED), raters="ann,bob,cy", order="low,mid,high").open()
    other = DataSource(write(RATED.replace("low,high", "low,mid")), raters="ann,bob,cy", order="low,mid,high").open()
    assert one.labels.tolist() == other.labels.tolist()
    digests = item_digests(one.items)
    assert data_digest(one, digests) != data_digest(other, digests)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "how", "expected"),
    [
        (RATED, {"raters": "ann,bob", "label": "cy"}, r"`raters` must be given in place of `label`, got both"),
        (RATED, {"raters": "ann,bob", "label_probs": "p_*"}, r"`label_probs` must be given in place of `raters`"),
        (RATED, {"raters": "ann"}, r"`raters` must name two columns or more, each once, got 'ann'"),
        (RATED, {"raters": "ann,bop"}, r"Unknown column 'bop'\. Did you mean 'bob'\?"),
        (RATED + "5,,,\n", {"raters": "ann,bob,cy"}, "a label in one of ann, bob, cy, 1 row without one: 6"),
        (RATED + "5,low,hi,\n", {"raters": "ann,bob,cy"}, r"lacks 'hi' \(1 sample, row 6\)"),
        (RATED, {"label": "ann,bob"}, r"give the columns of several raters as `raters`"),
        ("x,p,q\n1,1,0\n2,-1,2\n3,0,0\n", {"label_probs": "p,q", "order": "a,b"}, r"not all 0, got .*row 3.*row 4"),
        ("x,p,q\n1,1,0\n2,no,2\n", {"label_probs": "p,q", "order": "a,b"}, "'no' .row 3.. Correct these cells"),
        ("x,p,q\n1,1,0\n", {"label_probs": "p,q"}, "for each of the 3 classes of `order`, got 2: p, q"),
    ],
)
def test_bad_ratings_and_probabilities_are_refused(write, text, how, expected):
    with pytest.raises(InputError, match=f"(?s){expected}"):
        DataSource(write(text), **{"order": "low,mid,high", **how}).open()
    if {"raters", "label_probs"} <= how.keys():
        with pytest.raises(InputError, match=expected):
            from_frame(pd.read_csv(write(text)), **how)


def test_rows_without_a_rating_are_left_out_if_that_is_allowed(write):
    text = RATED + "5,,,\n6,low,hi,\n"
    data = DataSource(write(text), raters="ann,bob,cy", order="low,mid,high", skip_bad=True).open()
    assert (len(data), data.distribution.probs.shape, data.num_left_out) == (4, (4, 3), 2)


def test_raters_of_images_are_read_from_their_list(tmp_path, write):
    from PIL import Image

    for number in range(3):
        Image.new("RGB", (8, 8), (number, 0, 0)).save(tmp_path / f"{number}.png")
    data = DataSource(write("path,ann,bob\n0.png,1,2\n1.png,,2\n2.png,0,0\n"), raters="ann,bob").open()
    assert (data.labels.tolist(), data.items.paths) == ([1, 2, 0], ("0.png", "1.png", "2.png"))
