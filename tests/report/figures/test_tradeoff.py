import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from onepeak.report.figures.tradeoff import (
    Scores,
    column_of_names,
    interactive_tradeoff,
    limits_around,
    limits_of_order,
    order_limits,
    pareto_front,
    printed_tradeoff,
)
from onepeak.report.palette import styles

POINT = st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.sampled_from([0.0, 0.25, 0.5, 1.0]))


def scores_of(mae, soi):
    return Scores(mae=np.array(mae, dtype=float), soi=np.array(soi, dtype=float))


@given(st.lists(POINT, min_size=1, max_size=6))
def test_a_row_is_on_the_front_exactly_when_no_other_is_better_in_one_and_as_good_in_the_other(points):
    rows = {str(place): point for place, point in enumerate(points)}
    better = {
        row: [
            other
            for other, (mae, soi) in rows.items()
            if mae <= rows[row][0] and soi >= rows[row][1] and rows[other] != rows[row]
        ]
        for row in rows
    }
    front = pareto_front(rows)
    assert set(front) == {row for row in rows if not better[row]}
    assert [rows[row][0] for row in front] == sorted(rows[row][0] for row in front)


def test_a_row_without_a_figure_is_not_on_the_front():
    assert pareto_front({"ce": (np.nan, 0.5), "elb": (1.0, 0.9)}) == ["elb"]


def test_one_run_has_no_deviation():
    assert scores_of([1.0], [0.5]).std == (0.0, 0.0)
    assert scores_of([1.0, 2.0], [0.5, 0.7]).std == pytest.approx((0.5**0.5, 0.02**0.5))


def test_the_page_shows_runs_means_and_front():
    scores = {"ce": scores_of([3.0, 4.0], [0.5, 0.6]), "elb": scores_of([4.0, 4.2], [0.9, 1.0])}
    figure = interactive_tradeoff(scores, styles({"ce": "ce", "elb": "elb"}), chance=0.55)
    front, _, mean, named, runs, _, _ = figure.data
    assert (front.name, list(front.x), list(front.y)) == ("Pareto front", [3.5, 4.1], [0.55, 0.95])
    assert (mean.name, list(mean.x), list(mean.y)) == ("ce", [3.5], [0.55])
    assert (named.text[1].strip(), named.x[0], named.y[0]) == ("ce", 3.5, 0.55)
    assert named.x[1] == figure.layout.xaxis.range[1]  # the name begins where the image ends
    assert list(runs.x) == [4.0, 4.2]
    assert figure.layout.shapes[0].y0 == 0.55


@pytest.mark.parametrize("equal", [False, True])
def test_a_front_of_one_place_is_neither_drawn_nor_in_the_legend(equal):
    scores = {"ce": scores_of([5.0, 6.0], [0.5, 0.6]), "elb": scores_of([4.0, 4.2], [0.9, 1.0])}
    if equal:
        scores["mv"] = scores["elb"]
    figure = interactive_tradeoff(scores, styles({row: row for row in scores}))
    assert {trace.name for trace in figure.data} == set(scores)


@pytest.mark.parametrize(("chance", "seen"), [(0.75, False), (0.96, True), (1.2, False)])
def test_chance_is_drawn_only_where_it_lies_among_the_points(chance, seen):
    scores = {"ce": scores_of([5.0, 6.0], [0.95, 0.97]), "elb": scores_of([4.0, 4.2], [0.99, 1.0])}
    looks = styles({"ce": "ce", "elb": "elb"})
    page = interactive_tradeoff(scores, looks, chance=chance)
    low, high = page.layout.yaxis.range
    assert (low, high) == order_limits(scores)
    assert 0.94 < low < 0.95
    assert 1.0 < high < 1.01
    assert len(page.layout.shapes) == seen
    axes = printed_tradeoff(scores, looks, chance=chance).axes[0]
    assert axes.get_ylim() == pytest.approx((100 * low, 100 * high))
    assert ("chance" in [text.get_text().strip() for text in axes.texts]) == seen


def test_what_others_found_is_within_the_limits():
    scores = {"elb": scores_of([4.0, 4.2], [0.99, 1.0])}
    low, _ = order_limits(scores, [(4.0, 0.6)])
    assert low < 0.6 < order_limits(scores)[0]


@pytest.mark.parametrize("chance", [None, 0.9])
def test_one_run_of_one_method_is_drawn(chance):
    scores, looks = {"elb": scores_of([1.0], [0.9])}, styles({"elb": "elb"})
    assert len(interactive_tradeoff(scores, looks, chance=chance).data) == 3
    axes = printed_tradeoff(scores, looks, chance=chance).axes[0]
    assert "elb" in [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("number", [3, 24])
def test_in_print_the_names_of_equal_methods_never_touch(number):
    names = [f"method-{place}" for place in range(number)]
    scores = {name: scores_of([4.0, 4.1], [1.0, 1.0]) for name in names}
    figure = printed_tradeoff(scores, styles({name: name for name in names}))
    figure.draw_without_rendering()
    texts = figure.axes[0].texts
    assert sorted(text.get_text() for text in texts) == sorted(names)
    boxes = [Text.get_window_extent(text) for text in texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(box.x1 <= figure.bbox.x1 and box.y0 >= 0 for box in boxes)


@given(st.lists(POINT, min_size=1, max_size=40))
def test_names_are_apart_and_within_and_one_that_is_alone_stands_by_its_point(points):
    rows = {str(place): point for place, point in enumerate(points)}
    heights = column_of_names(rows, (-0.1, 1.1))
    risen = sorted(heights.values())
    assert all(upper - lower > 1.19 / max(20, len(points) + 1) for lower, upper in itertools.pairwise(risen))
    assert risen[0] > -0.1
    assert risen[-1] < 1.1
    assert column_of_names({"elb": (1.0, 0.9), "ce": (2.0, 0.5)}, (0.0, 1.0)) == {"elb": 0.9, "ce": 0.5}


def test_an_axis_reaches_a_little_beyond_what_is_drawn():
    assert limits_around([(1.0, 2.0), (1.5, 3.0)]) == pytest.approx((0.88, 3.12))
    assert limits_around([(2.0, 2.0)]) == pytest.approx((1.88, 2.12))
    assert limits_around([(0.0, 0.0)]) == (-0.5, 0.5)
    assert limits_of_order([(0.9, 1.5)]) == pytest.approx((0.894, 1.006))
    assert limits_of_order([(1.0, 1.0)]) == pytest.approx((0.9788, 1.0012))
    assert limits_of_order([(0.5, 0.501)]) == pytest.approx((0.4798, 0.5022))


def test_in_print_what_others_found_is_hollow_and_within_the_axes():
    scores = {"elb": scores_of([4.0, 4.2], [0.9, 0.9])}
    figure = printed_tradeoff(scores, styles({"elb": "elb"}), others={"elb": (4.13, 0.92)})
    figure.draw_without_rendering()
    axes = figure.axes[0]
    (hollow,) = [line for line in axes.lines if line.get_fillstyle() == "none"]
    assert hollow.get_xydata().tolist() == [[4.13, 92.0]]
    assert axes.bbox.contains(*axes.transData.transform(hollow.get_xydata())[0])
