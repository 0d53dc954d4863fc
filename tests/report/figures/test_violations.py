import numpy as np
import pytest

from onepeak.report.figures.violations import interactive_violations, mean_count, printed_violations, shares
from onepeak.report.palette import styles

COUNTS = {"ce": np.array([1, 2, 1]), "elb": np.array([4, 0, 0])}
LOOKS = styles({"ce": "ce", "elb": "elb"})


def test_shares_sum_to_one_and_nothing_has_none():
    assert shares(COUNTS["ce"]).tolist() == [0.25, 0.5, 0.25]
    assert shares(np.zeros(3, dtype=np.int64)).tolist() == [0, 0, 0]
    assert mean_count(np.zeros(3, dtype=np.int64)) == 0


def test_the_mean_is_that_of_the_distribution():
    assert mean_count(COUNTS["ce"]) == pytest.approx((0 + 2 * 1 + 1 * 2) / 4)


def test_every_method_has_its_bars_on_one_scale():
    figure = interactive_violations(COUNTS, LOOKS)
    assert [list(trace.y) for trace in figure.data] == [[0.25, 0.5, 0.25], [1, 0, 0]]
    assert figure.layout.yaxis.range == figure.layout.yaxis2.range == (0, 1.05)
    assert [note.text for note in figure.layout.annotations] == ["<b>ce</b>, mean 1.00", "<b>elb</b>, mean 0.00"]
    assert len(printed_violations(COUNTS, LOOKS).axes) == 2


def test_two_classes_of_one_method_have_two_bars():
    counts = {"elb": np.array([3, 1])}
    assert len(interactive_violations(counts, LOOKS).data[0].x) == 2
    assert printed_violations(counts, LOOKS).axes[0].get_ylabel() == "elb"


@pytest.mark.parametrize("num_classes", [2, 3, 4, 12, 70])
def test_counts_are_whole_numbers_on_the_axis(num_classes):
    counts = {"elb": np.eye(1, num_classes, dtype=np.int64)[0], "ce": np.ones(num_classes, dtype=np.int64)}
    [*others, last] = printed_violations(counts, LOOKS).axes
    ticks = last.get_xticks()
    shown = ticks[(ticks > -0.5) & (ticks < num_classes - 0.5)]
    assert len(shown) >= 2
    assert (shown == shown.round()).all()
    assert not any(axes.xaxis.get_tick_params()["labelbottom"] for axes in others)
    assert interactive_violations(counts, LOOKS).layout.xaxis2.dtick == (1 if num_classes <= 12 else None)
