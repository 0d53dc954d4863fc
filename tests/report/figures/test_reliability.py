import numpy as np
import pytest

from onepeak.posterior import Reliability, ReliabilityBin
from onepeak.report.figures.reliability import interactive_reliability, printed_reliability
from onepeak.report.palette import styles

LOOKS = styles({"ce": "ce", "elb": "elb"})


def bin_of(stated, happened, count):
    return ReliabilityBin(low=stated - 0.1, high=stated + 0.1, count=count, stated=stated, happened=happened)


def points(*each):
    bins = tuple(bin_of(*one) for one in each)
    return Reliability(num_bins=5, confidence=bins, cumulative=bins[:1])


FOUND = {"ce": points((0.3, 0.2, 400), (0.5, 0.4, 100)), "elb": points((0.5, 0.5, 90), (0.7, 0.6, 10))}


def test_a_line_goes_through_what_was_stated_and_what_came_true():
    diagonal, ce, elb = interactive_reliability(FOUND, LOOKS, statement="confidence").data
    assert (list(diagonal.x), list(diagonal.y)) == ([0, 1], [0, 1])
    assert (list(ce.x), list(ce.y), list(ce.customdata)) == ([0.3, 0.5], [0.2, 0.4], [400, 100])
    assert [ce.name, elb.name] == ["ce", "elb"]
    assert [len(trace.x) for trace in interactive_reliability(FOUND, LOOKS, statement="cumulative").data] == [2, 1, 1]
    assert ce.line.color == LOOKS["ce"].colour


def test_a_dot_has_the_area_of_its_statements_but_can_always_be_seen():
    figure = interactive_reliability(FOUND, LOOKS, statement="confidence")
    assert list(figure.data[1].marker.size) == pytest.approx([14, 14 / 2])
    many = {"ce": points((0.1, 0.1, 10_000), (0.3, 0.5, 10))}
    assert min(interactive_reliability(many, LOOKS, statement="confidence").data[1].marker.size) == 14 / 4


def test_print_shows_both_statements_before_and_after():
    figure = printed_reliability(FOUND, {"ce": FOUND["elb"]}, LOOKS)
    assert [axes.get_title() for axes in figure.axes] == [
        "most probable class, as trained",
        "most probable class, calibrated",
        "class k or below, as trained",
        "class k or below, calibrated",
    ]
    trained, calibrated, cumulative, _ = figure.axes
    assert trained.lines[1].get_xydata() == pytest.approx(np.array([[30, 20], [50, 40]]))
    assert calibrated.lines[1].get_xydata() == pytest.approx(np.array([[50, 50], [70, 60]]))
    assert len(cumulative.lines[1].get_xydata()) == 1


BROKEN = {
    "ce": points((0.1, 0.1, 30), (0.3, 0.2, 400), (0.5, 1.0, 9), (0.7, 0.6, 10), (0.9, 0.8, 50)),
    "elb": points((0.1, 0.2, 80), (0.5, 0.5, 20), (0.9, 0.0, 1)),  # of the second bin nothing was stated
}


def test_no_line_leads_across_a_bin_that_is_missing():
    few = {"elb": points((0.5, 0.5, 3), (0.7, 0.0, 1))}  # all are shown where every bin holds a handful
    assert list(interactive_reliability(few, LOOKS, statement="confidence").data[1].x) == [0.5, 0.7]
    _, ce, elb = interactive_reliability(BROKEN, LOOKS, statement="confidence").data
    assert (list(ce.x), list(ce.y)) == ([0.1, 0.3, None, 0.7, 0.9], [0.1, 0.2, None, 0.6, 0.8])
    assert list(ce.customdata) == [30, 400, None, 10, 50]
    assert len(ce.marker.size) == len(ce.x)
    assert not ce.connectgaps
    assert list(elb.x) == [0.1, None, 0.5]
    line = printed_reliability(BROKEN, BROKEN, LOOKS).axes[0].lines[1].get_xydata()
    np.testing.assert_allclose(line, [[10, 10], [30, 20], [np.nan, np.nan], [70, 60], [90, 80]])


def test_thirds_that_floats_cannot_hold_are_no_gap():
    bins = tuple(
        ReliabilityBin(low=place / 15, high=(place + 1) / 15, count=20, stated=(place + 0.5) / 15, happened=0.5)
        for place in range(15)
    )
    found = {"ce": Reliability(num_bins=15, confidence=bins, cumulative=bins)}
    assert None not in interactive_reliability(found, LOOKS, statement="confidence").data[1].x
