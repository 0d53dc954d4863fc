import math
from dataclasses import replace

import numpy as np
import pandas
import pytest
import torch

from onepeak.posterior.predictions import Predictions, Row


@pytest.fixture
def said():
    return Predictions(
        classes=("low", "middle", "high"),
        predicted_index=torch.tensor([1, 2]),
        log_probs=torch.tensor([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]]).log(),
        sources=("a.png", "b.png"),
        source_name="path",
    )


def test_rows_hold_plain_values(said):
    first, second = said.rows()
    found = [(row.source, row.predicted_index, row.predicted_class, row.soi, row.unimodal) for row in (first, second)]
    assert found == [("a.png", 1, "middle", 1.0, True), ("b.png", 2, "high", 0.5, False)]
    assert [math.exp(value) for value in first.log_probs] == pytest.approx([0.1, 0.6, 0.3])
    assert first.error is None
    assert type(first.predicted_index) is int
    assert type(first.unimodal) is bool


def test_the_frame_has_a_row_a_sample_and_a_column_a_class(said):
    frame = said.to_frame()
    assert list(frame)[:3] == ["path", "predicted_class", "predicted_index"]  # as in CSV: the class before its position
    assert frame[["path", "label", "name", "unimodal"]].values.tolist() == [
        ["a.png", 1, "middle", True],
        ["b.png", 2, "high", False],
    ]
    assert frame["soi"].tolist() == [1.0, 0.5]
    assert isinstance(frame, pandas.DataFrame)
    assert (frame.filter(like="log_prob_").to_numpy() == said.log_probs.numpy()).all()


def test_it_is_a_sequence_of_records(said):
    assert said[0] == next(said.rows())
    assert said[-1] == said[1] == list(said)[1]
    with pytest.raises(IndexError):
        said[2]
    last = said[1:]
    assert (len(last), last.sources, last.source_name, last.predicted_class) == (1, ("b.png",), "path", ("high",))
    assert len(said[5:]) == 0


def test_probabilities_are_there_beside_their_logarithms(said):
    assert said.probs.sum(dim=1).tolist() == pytest.approx([1.0, 1.0])
    assert said[0].probs == pytest.approx((0.1, 0.6, 0.3))
    assert said.to_frame()["p_middle"].tolist() == pytest.approx([0.6, 0.2])
    assert Row(source="a.png", error="empty").probs is None


@pytest.fixture
def with_intervals(said):
    return replace(said, intervals=torch.tensor([[0, 1], [2, 2]]), alpha=0.1)


def test_intervals_come_with_the_names_of_their_ends(with_intervals):
    assert with_intervals.interval_names == (("low", "middle"), ("high", "high"))
    first, second = with_intervals
    assert (first.lower, first.upper, first.lower_name, first.upper_name) == (0, 1, "low", "middle")
    assert (second.lower, second.upper, second.lower_name, second.upper_name) == (2, 2, "high", "high")
    frame = with_intervals.to_frame()
    assert frame[["lower", "upper", "lower_name", "upper_name"]].values.tolist() == [
        [0, 1, "low", "middle"],
        [2, 2, "high", "high"],
    ]
    assert with_intervals[1:].intervals.tolist() == [[2, 2]]
    assert with_intervals.headline == ("between low and middle", "high")
    assert [first.headline, second.headline] == list(frame["headline"]) == ["between low and middle", "high"]
    assert len(with_intervals[:0].to_frame()) == 0


def test_a_model_without_intervals_leaves_them_out(said):
    assert said.interval_names is None
    assert said.headline == ("middle", "high")
    assert {row.lower for row in said} == {row.upper_name for row in said} == {None}
    assert "lower" not in said.to_frame()


def test_what_is_unlike_the_training_is_text_in_a_frame_and_none_where_nobody_looked(said):
    assert [row.unlike for row in said] == said.to_frame()["unlike"].tolist() == [None, None]
    told = replace(said, unlike=((), ("contrast", "grain")))
    assert told.to_frame()["unlike"].tolist() == ["", "contrast; grain"]
    assert told[1:].to_frame()["unlike"].tolist() == ["contrast; grain"]


def test_the_former_names_still_give_the_same_with_a_warning(said):
    for former, name in (("labels", "predicted_index"), ("names", "predicted_class")):
        with pytest.warns(DeprecationWarning, match=f"`{former}` of a prediction is now `{name}`"):
            assert getattr(said, former) is getattr(said, name)
    for former, name in (("label", "predicted_index"), ("name", "predicted_class")):
        with pytest.warns(DeprecationWarning, match=f"`{former}` of a prediction is now `{name}`"):
            assert getattr(said[0], former) == getattr(said[0], name)
    frame = said.to_frame()
    assert (frame["label"] == frame["predicted_index"]).all()
    assert (frame["name"] == frame["predicted_class"]).all()


def test_some_samples_and_parts_together_keep_every_column(said):
    whole = replace(said, truth=torch.tensor([1, 0]), items=np.array([7, 3]), unlike=((), ("grain",)))
    back = Predictions.joined([whole.take([1]), whole.take([0])]).take([1, 0])
    assert (back.items == whole.items).all()
    assert torch.equal(back.truth, whole.truth)
    assert (back.sources, back.unlike, back.classes) == (whole.sources, whole.unlike, whole.classes)
    assert torch.equal(back.log_probs, whole.log_probs)
    assert back.intervals is None


def test_samples_of_a_group_become_its_worst_its_mean_or_its_median():
    probs = torch.tensor([[0.7, 0.2, 0.1], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1]])
    found = Predictions(
        classes=("low", "middle", "high"),
        predicted_index=probs.argmax(dim=1),
        log_probs=probs.log(),
        truth=torch.tensor([0, 2, 1, 0]),
        intervals=torch.tensor([[0, 1], [1, 2], [1, 1], [0, 0]]),
        distance=torch.tensor([0.1, 0.2, 1.5, 0.3]),
        sources=tuple("abcd"),
        unlike=((), (), ("features",), ()),
    )
    groups = ["ann", "ann", "ann", "ben"]
    worst, mean, median = (found.combined(groups, how) for how in ("worst", "mean", "median"))
    for each in (worst, mean, median):
        assert (each.sources, each.source_name, each[1].predicted_class) == (("ann", "ben"), "group", "low")
        assert each.unlike == (("features",), ())
        assert each.distance.tolist() == pytest.approx([1.5, 0.3])
    assert torch.equal(worst.log_probs[0], found.log_probs[1])
    assert torch.equal(median.log_probs[0], found.log_probs[2])
    assert mean.probs[0].tolist() == pytest.approx(probs[:3].mean(dim=0).tolist())
    assert [each.predicted_index.tolist() for each in (worst, mean, median)] == [[2, 0], [1, 0], [1, 0]]
    assert [each.intervals[0].tolist() for each in (worst, mean, median)] == [[1, 2], [0, 2], [0, 2]]
    assert [each.truth.tolist() for each in (worst, mean, median)] == [[2, 0], [1, 0], [1, 0]]


def test_the_worst_of_a_group_has_its_highest_predicted_class_inside_its_interval():
    probs = torch.tensor([[0.5, 0.0, 0.1, 0.4], [0.0, 0.5, 0.1, 0.4], [0.1, 0.2, 0.6, 0.1]])
    found = Predictions(  # the second has the highest expected class, the third the highest predicted one
        classes=tuple("abcd"),
        predicted_index=torch.tensor([0, 1, 2]),
        log_probs=probs.log(),
        intervals=torch.tensor([[0, 0], [1, 1], [2, 2]]),
        sources=(0, 1, 2),
        refer=(None, "may be d or above", None),
    )
    assert found.combined(["ann"] * 3, "worst")[0].predicted_class == "c"
    mean = found.combined(["ann", "ann", "ben"], "mean")
    assert (mean.predicted_index.tolist(), mean.intervals.tolist()) == ([3, 2], [[0, 3], [2, 2]])
    for how in ("worst", "mean", "median"):
        assert found.combined(["ann", "ann", "ben"], how).refer == ("may be d or above", None)
