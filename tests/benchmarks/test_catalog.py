"""Every name in the images of the whole catalog can be read."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.text import Text

import catalog
import onepeak
from onepeak.experiment.statistics import compare_ranks
from onepeak.report.tables import critical_difference_diagram

NAMES = [record.name for record in onepeak.methods()]


def table_of(*, in_order):
    """The whole catalog with ranks close together, of which a share has every pair in order."""
    rng = np.random.default_rng(0)
    order = np.where(rng.random(len(NAMES)) < in_order, 100.0, 100 - 30 * rng.random(len(NAMES)) ** 3)
    families = [record.family for record in onepeak.methods()]
    ranks = rng.uniform(8, 42, len(NAMES)).round(1)
    ranks[1], order[1] = ranks[0], order[0]  # two in the same place
    return pd.DataFrame({"family": families, "rank mae": ranks, "soi_predicted": order}, index=NAMES)


def box_of(text):
    """Of the letters alone, without the line that leads to them."""
    return Text.get_window_extent(text)


def overlapping(texts):
    boxes = {text.get_text(): box_of(text) for text in texts if text.get_text()}
    return [pair for pair in combinations(boxes, 2) if boxes[pair[0]].overlaps(boxes[pair[1]])]


@pytest.fixture(scope="module", params=[0.6, 0.9])
def axes(request):
    figure = catalog.scatter(table_of(in_order=request.param))
    figure.draw_without_rendering()
    return figure.axes[0]


def test_every_method_is_named_and_no_name_lies_over_another(axes):
    assert sorted(text.get_text() for text in axes.texts) == sorted(NAMES)
    assert overlapping(axes.texts) == []


def test_no_name_covers_a_point_or_leaves_the_image(axes):
    boxes = [box_of(text) for text in axes.texts]
    points = np.concatenate([each.get_offsets() for each in axes.collections if isinstance(each, PathCollection)])
    assert len(points) == len(NAMES)
    assert sum(box.count_contains(axes.transData.transform(points)) for box in boxes) == 0
    assert all(axes.figure.bbox.count_contains(box.corners()) == 4 for box in boxes)


def test_a_diagram_of_ranks_has_room_for_every_name():
    values = np.random.default_rng(0).random((5, len(NAMES)))
    figure = critical_difference_diagram(compare_ranks(values, tuple(NAMES), higher_is_better=False), title="rank")
    figure.draw_without_rendering()
    labels = figure.axes[0].get_yticklabels()
    assert len(labels) == len(NAMES)
    assert overlapping(labels) == []
