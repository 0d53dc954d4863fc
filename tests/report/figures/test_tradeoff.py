import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.report.figures.tradeoff import (
    Scores,
    column_of_names,
    interactive_tradeoff,
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
    scores = {"ce": scores_of([5.0, 6.0], [0.5, 0.6]), "elb": scores_of([4.0, 4.2], [0.9, 1.0])}
    figure = interactive_tradeoff(scores, styles({"ce": "ce", "elb": "elb"}), chance=0.55)
    front, _, mean, named, runs, _, _ = figure.data
    assert (front.name, list(front.x), list(front.y)) == ("Pareto front", [4.1], [0.95])
    assert (mean.name, list(mean.x), list(mean.y)) == ("ce", [5.5], [0.55])
    assert (named.text[1].strip(), named.x[0], named.y[0]) == ("ce", 5.5, 0.55)
    assert named.x[1] == figure.layout.xaxis.range[1]  # the name begins where the picture ends
    assert list(runs.x) == [4.0, 4.2]
    assert figure.layout.shapes[0].y0 == 0.55


@pytest.mark.parametrize("chance", [None, 0.6])
def test_one_run_of_one_method_is_drawn(chance):
    scores, looks = {"elb": scores_of([1.0], [0.9])}, styles({"elb": "elb"})
    assert len(interactive_tradeoff(scores, looks, chance=chance).data) == 4
    axes = printed_tradeoff(scores, looks, chance=chance).axes[0]
    assert "elb" in [text.get_text() for text in axes.texts]


@given(st.lists(POINT, min_size=1, max_size=40))
def test_names_beside_the_picture_are_apart_within_it_and_in_the_order_of_their_points(points):
    rows = {str(place): point for place, point in enumerate(points)}
    heights = column_of_names(rows, (-0.1, 1.1))
    risen = sorted(heights.values())
    assert all(upper - lower > 1.19 / max(20, len(points) + 1) for lower, upper in itertools.pairwise(risen))
    assert risen[0] > -0.1
    assert risen[-1] < 1.1
    assert all(heights[a] < heights[b] for a in rows for b in rows if rows[a][1] < rows[b][1])


def test_a_name_that_is_alone_at_its_height_stands_there():
    heights = column_of_names({"elb": (1.0, 0.9), "ce": (2.0, 0.5)}, (0.0, 1.0))
    assert heights == pytest.approx({"elb": 0.9, "ce": 0.5})


@pytest.mark.parametrize("number", [3, 16])
def test_in_print_the_names_of_equal_methods_never_touch(number):
    names = [f"method-{place}" for place in range(number)]
    scores = {name: scores_of([4.0, 4.1], [1.0, 1.0]) for name in names}
    figure = printed_tradeoff(scores, styles({name: name for name in names}), chance=0.98)
    figure.draw_without_rendering()
    texts = figure.axes[0].texts
    assert sorted(text.get_text().strip() for text in texts) == sorted([*names, "chance"])
    boxes = [text.get_window_extent() for text in texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(box.x1 <= figure.bbox.x1 and box.y0 >= 0 for box in boxes)


@pytest.mark.parametrize(("number", "beside"), [(20, False), (21, True)])
def test_in_print_more_than_twenty_names_stand_beside_the_picture_though_there_is_room_between(number, beside):
    names = [f"m{place}" for place in range(number)]
    scores = {name: scores_of([place % 5], [place // 5 / 5]) for place, name in enumerate(names)}
    axes = printed_tradeoff(scores, styles({name: name for name in names})).axes[0]
    side = axes.get_xlim()[1]
    assert [text.get_position()[0] == side for text in axes.texts] == [beside] * number


def test_in_print_what_others_found_is_hollow_within_the_axes_and_the_name_is_not_over_it():
    scores = {"elb": scores_of([4.0, 4.2], [0.9, 0.9])}
    figure = printed_tradeoff(scores, styles({"elb": "elb"}), others={"elb": (4.13, 0.92)})
    figure.draw_without_rendering()
    axes = figure.axes[0]
    (hollow,) = [line for line in axes.lines if line.get_fillstyle() == "none"]
    assert hollow.get_xydata().tolist() == [[4.13, 92.0]]
    (place,) = axes.transData.transform(hollow.get_xydata())
    assert axes.bbox.contains(*place)
    (name,) = axes.texts
    assert not name.get_window_extent().contains(*place)
