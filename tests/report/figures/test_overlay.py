import numpy as np
import pytest

from onepeak.report.figures.overlay import interactive_overlay, most_common_label, printed_overlay
from onepeak.report.palette import styles

LOOKS = styles({"ce": "ce", "elb": "elb"})
CLASSES = ["low", "middle", "high"]
POSTERIORS = {
    0: np.array([[0.6, 0.1, 0.3], [0.8, 0.0, 0.2]], dtype=np.float32),
    2: np.array([[0.1, 0.2, 0.7]], dtype=np.float32),
}


def test_the_first_label_shown_is_the_most_frequent_of_those_that_all_predict():
    rows = {"ce": POSTERIORS, "elb": {2: POSTERIORS[2]}}
    counts = {"ce": np.array([9, 0, 1]), "elb": np.array([0, 0, 1])}
    assert most_common_label(rows, counts) == 2
    assert most_common_label({"ce": POSTERIORS}, {"ce": counts["ce"]}) == 0


def test_only_the_label_chosen_is_visible_and_every_trace_knows_its_own():
    figure = interactive_overlay(POSTERIORS, CLASSES, LOOKS, row="ce", label=2, highest=0.8)
    assert [(trace.meta, trace.visible) for trace in figure.data] == [(0, False), (0, False), (2, True), (2, True)]
    assert figure.layout.yaxis.range == pytest.approx((0, 0.84))


def test_posteriors_are_one_line_with_gaps_and_their_mean_another():
    lines, mean = interactive_overlay(POSTERIORS, CLASSES, LOOKS, row="ce", label=0, highest=1.0).data[:2]
    assert np.isnan(lines.y).tolist() == [False, False, False, True] * 2
    assert lines.y[:3].tolist() == pytest.approx([0.6, 0.1, 0.3])
    assert mean.y.tolist() == pytest.approx([0.7, 0.05, 0.25])


def test_in_print_a_method_that_never_predicts_the_label_says_so():
    figure = printed_overlay({"ce": POSTERIORS, "elb": {2: POSTERIORS[2]}}, CLASSES, LOOKS, label=0)
    assert len(figure.axes[0].lines) == 3
    assert [text.get_text() for text in figure.axes[1].texts] == ["never predicted"]
    assert figure.get_suptitle() == "posteriors whose predicted label is low"
