import numpy as np

from onepeak.report.figures.confusion import interactive_confusion, printed_confusions

TABLE = np.array([[3, 1], [0, 2]])


def test_each_true_class_is_a_line_of_shares_from_the_top():
    figure = interactive_confusion(TABLE, ["low", "high"])
    assert figure.data[0].z.tolist() == [[0.75, 0.25], [0, 1]]
    assert figure.data[0].customdata.tolist() == TABLE.tolist()
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.yaxis.ticktext == ("low", "high")


def test_ten_methods_of_seventy_classes_fit_and_their_axes_stay_readable():
    confusions = {f"method{each}": np.eye(70, dtype=np.int64) for each in range(10)}
    figure = printed_confusions(confusions, [str(age) for age in range(70)])
    assert sum(axes.get_visible() for axes in figure.axes) == 10
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["0", "10", "20", "30", "40", "50", "60"]
