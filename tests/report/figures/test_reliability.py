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


FOUND = {"ce": points((0.3, 0.2, 400), (0.9, 0.5, 100)), "elb": points((0.5, 0.5, 90), (0.7, 0.6, 10))}


def test_a_line_goes_through_what_was_stated_and_what_came_true():
    diagonal, ce, elb = interactive_reliability(FOUND, LOOKS, statement="confidence").data
    assert (list(diagonal.x), list(diagonal.y)) == ([0, 1], [0, 1])
    assert (list(ce.x), list(ce.y), list(ce.customdata)) == ([0.3, 0.9], [0.2, 0.5], [400, 100])
    assert [ce.name, elb.name] == ["ce", "elb"]
    assert ce.line.color == LOOKS["ce"].colour


def test_a_dot_has_the_area_of_its_statements_but_can_always_be_seen():
    figure = interactive_reliability(FOUND, LOOKS, statement="confidence")
    assert list(figure.data[1].marker.size) == pytest.approx([14, 14 / 2])
    many = {"ce": points((0.1, 0.1, 10_000), (0.9, 0.5, 10))}
    assert min(interactive_reliability(many, LOOKS, statement="confidence").data[1].marker.size) == 14 / 4


def test_the_cumulative_statements_have_their_own_points():
    assert [len(trace.x) for trace in interactive_reliability(FOUND, LOOKS, statement="cumulative").data] == [2, 1, 1]


def test_print_shows_both_statements_before_and_after():
    figure = printed_reliability(FOUND, {"ce": FOUND["elb"]}, LOOKS)
    assert [axes.get_title() for axes in figure.axes] == [
        "most probable label, as trained",
        "most probable label, calibrated",
        "label k or below, as trained",
        "label k or below, calibrated",
    ]
    trained, calibrated, cumulative, _ = figure.axes
    assert trained.lines[1].get_xydata() == pytest.approx(np.array([[30, 20], [90, 50]]))
    assert calibrated.lines[1].get_xydata() == pytest.approx(np.array([[50, 50], [70, 60]]))
    assert len(cumulative.lines[1].get_xydata()) == 1


def test_bins_of_a_handful_are_left_out_unless_all_are():
    found = {"ce": points((0.3, 0.2, 400), (0.9, 1.0, 2)), "elb": points((0.5, 0.5, 3), (0.7, 0.0, 1))}
    _, ce, elb = interactive_reliability(found, LOOKS, statement="confidence").data
    assert (list(ce.x), list(elb.x)) == ([0.3], [0.5, 0.7])
