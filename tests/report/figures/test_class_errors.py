import numpy as np
import pytest
import torch

from onepeak.metrics.functional import average_mean_absolute_error
from onepeak.report.figures.class_errors import errors_by_class, interactive_class_errors, printed_class_errors
from onepeak.report.palette import styles

LOOKS = styles({"ce": "ce", "elb": "elb"})


def test_the_errors_of_the_classes_average_to_the_metric():
    rng = np.random.default_rng(0)
    labels, predicted = rng.integers(0, 5, 200), rng.integers(0, 5, 200)
    confusion = np.zeros((5, 5), dtype=np.int64)
    np.add.at(confusion, (labels, predicted), 1)
    expected = average_mean_absolute_error(torch.tensor(predicted), torch.tensor(labels), num_classes=5)
    assert errors_by_class(confusion).mean() == pytest.approx(float(expected))


@pytest.mark.parametrize(("num_classes", "mode"), [(2, "lines+markers"), (70, "lines")])
def test_a_few_classes_are_marked_and_many_are_a_line(num_classes, mode):
    classes = [f"c{each}" for each in range(num_classes)]
    confusions = {"ce": np.eye(num_classes, dtype=np.int64), "elb": 2 * np.eye(num_classes, dtype=np.int64)}
    figure = interactive_class_errors(confusions, classes, LOOKS)
    assert [trace.mode for trace in figure.data] == [mode, mode]
    assert figure.data[1].text[0] == "c0, 2 predictions"
    axes = printed_class_errors(confusions, classes, LOOKS).axes[0]
    assert len(axes.lines) == 2
    assert 2 <= len(axes.get_xticks()) <= 12


def test_a_class_without_a_sample_is_a_gap():
    figure = interactive_class_errors({"ce": np.array([[1, 1], [0, 0]])}, ["low", "high"], LOOKS)
    assert figure.data[0].y[0] == 0.5
    assert np.isnan(figure.data[0].y[1])
