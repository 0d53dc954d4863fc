import numpy as np
import pytest

from onepeak.serving.inspector.label_view import label_view
from onepeak.serving.inspector.said import Said

PROBS = np.array([[0.7, 0.2, 0.1], [0.5, 0.1, 0.4], [0.2, 0.6, 0.2], [0.6, 0.3, 0.1]], dtype=np.float32)


def said(probs):
    labels = probs.argmax(axis=1)
    none = np.full(len(probs), None, dtype=object)
    return Said(item=np.arange(len(probs)), path=none, label=labels, predicted=labels, log_probs=np.log(probs))


def test_all_posteriors_of_the_label_are_laid_over_each_other():
    view = label_view({"ce": [said(PROBS[:2]), said(PROBS[2:])]}, 0, num_classes=3)
    (row,) = view.rows
    assert row.count == 3
    assert np.array(row.shown) == pytest.approx(PROBS[[0, 1, 3]], abs=1e-5)
    assert row.mean == pytest.approx([0.6, 0.2, 0.2], abs=1e-5)
    assert row.unimodal == pytest.approx(2 / 3)
    assert view.highest == pytest.approx(0.7, abs=1e-5)


def test_a_label_that_is_never_predicted_is_empty():
    view = label_view({"ce": [said(PROBS)], "elb": []}, 2, num_classes=3)
    assert [(row.count, row.unimodal, row.shown) for row in view.rows] == [(0, None, ()), (0, None, ())]


def test_of_too_many_some_are_drawn_in_equal_steps_and_all_are_counted():
    many = np.tile(PROBS[[0]], (100, 1)) + np.linspace(0, 0.1, 100, dtype=np.float32)[:, None] * [1, -1, 0]
    (row,) = label_view({"ce": [said(many.astype(np.float32))]}, 0, num_classes=3, most_numbers=15).rows
    assert (row.count, len(row.shown)) == (100, 5)
    assert [posterior[0] for posterior in row.shown] == pytest.approx([0.7, 0.725, 0.75, 0.775, 0.8], abs=1e-3)
