import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.report.figures.tradeoff import (
    Scores,
    interactive_tradeoff,
    limits_of,
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
    front = pareto_front(rows | {"without": (np.nan, 0.5)})
    assert set(front) == {row for row in rows if not better[row]}
    assert [rows[row][0] for row in front] == sorted(rows[row][0] for row in front)


def test_the_page_shows_runs_means_and_front():
    scores = {"ce": scores_of([3.0, 4.0], [0.5, 0.6]), "elb": scores_of([4.0, 4.2], [0.9, 1.0])}
    figure = interactive_tradeoff(scores, styles({"ce": "ce", "elb": "elb"}), chance=0.55)
    front, runs, mean, _, _ = figure.data
    assert (front.name, list(front.x), list(front.y)) == ("Pareto front", [3.5, 4.1], [0.55, 0.95])
    assert (mean.name, list(mean.x), list(mean.y)) == ("ce", [3.5], [0.55])
    assert list(runs.x) == [3.0, 4.0]
    assert figure.layout.shapes[0].y0 == 0.55
    alone = {"elb": scores_of([1.0], [0.9])}
    assert alone["elb"].std == (0.0, 0.0)
    assert len(interactive_tradeoff(alone, styles({"elb": "elb"})).data) == 2
    assert "elb" in printed_tradeoff(alone, styles({"elb": "elb"})).axes[0].get_legend_handles_labels()[1]


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
    assert (low, high) == limits_of(scores)
    assert 0.94 < low < 0.95
    assert 1.0 < high < 1.01
    assert len(page.layout.shapes) == seen
    axes = printed_tradeoff(scores, looks, chance=chance).axes[0]
    assert axes.get_ylim() == pytest.approx((100 * low, 100 * high))
    assert ("random guessing" in axes.get_legend_handles_labels()[1]) == seen
