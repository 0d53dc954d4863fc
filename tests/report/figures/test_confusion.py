import numpy as np
import pytest
import torch

from onepeak.metrics.functional import average_mean_absolute_error
from onepeak.report.figures.confusion import (
    errors_by_class,
    interactive_class_errors,
    interactive_confusion,
    printed_class_errors,
    printed_confusions,
)
from onepeak.report.palette import styles

TABLE = np.array([[3, 1], [0, 2]])


def test_each_true_class_is_a_line_of_shares_from_the_top():
    figure = interactive_confusion(TABLE, ["low", "high"])
    assert figure.data[0].z.tolist() == [[0.75, 0.25], [0, 1]]
    assert figure.data[0].customdata.tolist() == TABLE.tolist()
    assert (figure.layout.xaxis.range, figure.layout.yaxis.range) == ((-0.5, 1.5), (1.5, -0.5))
    assert figure.layout.yaxis.ticktext == ("low", "high")


def test_cells_say_their_per_cent_and_those_on_full_ink_have_a_colour_of_their_own():
    figure = interactive_confusion(np.array([[3, 1, 0], [0, 2, 0], [1, 0, 199]]), ["low", "middle", "high"])
    _, on_ink, others = figure.data
    found = [dict(zip(zip(each.y, each.x, strict=True), each.text, strict=True)) for each in (on_ink, others)]
    assert found == [{(1, 1): "100", (2, 2): "100"}, {(0, 0): "75", (0, 1): "25", (2, 0): "<1"}]
    assert on_ink.textfont.color is not None
    assert others.textfont.color is None  # the page sets it, for light and dark
    assert {each.hoverinfo for each in (on_ink, others)} == {"skip"}


@pytest.mark.parametrize("num_classes", [12, 13])
def test_numbers_stand_in_the_cells_of_a_few_classes_only(num_classes):
    names, table = [str(each) for each in range(num_classes)], np.eye(num_classes, dtype=np.int64)
    few = num_classes == 12
    assert len(interactive_confusion(table, names).data) == 1 + few
    [axes] = printed_confusions({"ce": table}, names).axes
    assert [each.get_text() for each in axes.texts if each.get_text()] == ["100"] * 12 * few


def test_in_print_numbers_are_white_on_dark_cells_only():
    [axes] = printed_confusions({"ce": TABLE}, ["low", "high"]).axes
    assert [(each.get_text(), each.get_color()) for each in axes.texts if each.get_text()] == [
        ("75", "white"), ("25", "black"), ("100", "white"),
    ]  # fmt: skip


def test_ten_methods_of_seventy_classes_fit_and_their_axes_stay_readable():
    confusions = {f"method{each}": np.eye(70, dtype=np.int64) for each in range(10)}
    figure = printed_confusions(confusions, [str(age) for age in range(70)])
    assert sum(axes.get_visible() for axes in figure.axes) == 10
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["0", "10", "20", "30", "40", "50", "60"]


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
