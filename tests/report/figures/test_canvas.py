import itertools

import pytest

from onepeak.report.figures.canvas import (
    class_ticks,
    legend_below,
    name_ticks,
    printed,
    save,
    small_multiples,
)


@pytest.mark.parametrize(
    ("number", "ticks"),
    [
        (2, [0, 1]),
        (12, list(range(12))),
        (20, list(range(0, 20, 2))),
        (26, [0, 5, 10, 15, 20, 25]),
        (101, [0, 20, 40, 60, 80, 100]),
        (12_345, [0, 2000, 4000, 6000, 8000, 10000, 12000]),
    ],
)
def test_a_few_classes_are_all_named_and_of_many_about_ten(number, ticks):
    assert class_ticks([str(each) for each in range(number)]) == ticks


@pytest.mark.parametrize(("number", "rows", "columns"), [(1, 1, 1), (2, 1, 2), (4, 2, 3), (9, 3, 3)])
def test_like_figures_stand_in_rows_of_three_and_spare_places_are_empty(number, rows, columns):
    figure, axes = small_multiples(number, height=1.9)
    assert len(axes) == number
    assert axes[0].get_gridspec().get_geometry() == (rows, columns)
    assert sum(each.get_visible() for each in figure.axes) == number


@pytest.mark.parametrize(
    ("classes", "upright"),
    [
        (["none", "mild", "moderate", "severe", "proliferative"], True),
        (["a class with quite a long name"] * 2, True),
        ([f"{age}" for age in range(70)], False),
        (["low", "middle", "high"], False),
        (["mild", "moderate", "severe"], False),
        (["I", "II", "III", "IV"], False),
    ],
)
@pytest.mark.parametrize("columns", [1, 3])
def test_names_of_classes_never_touch(classes, upright, columns):
    figure, axes = printed(1, columns)
    for each in axes:
        each.set_xlim(-0.5, len(classes) - 0.5)
    name_ticks(figure, axes, classes)
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes[0].get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
    assert all(box.y0 > 0 for box in boxes)
    if columns == 3:
        assert axes[0].get_xticklabels()[0].get_rotation() == (90 if upright else 0)


@pytest.mark.parametrize("names", [["ce", "elb"], [f"smooth-rps+elb-weight-0.{place}" for place in range(15)]])
def test_a_legend_is_as_wide_as_the_text_at_most(names):
    figure, (axes,) = printed()
    for name in names:
        axes.plot([0, 1], label=name)
    legend_below(figure, axes)
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    kept = []
    for place in ("first", "second"):
        figure, (axes,) = printed()
        axes.plot([1, 2], [3, 1])
        paths = save(figure, tmp_path / place / "line")
        assert [path.name for path in paths] == ["line.png", "line.pdf"]
        kept.append([path.read_bytes() for path in paths])
    assert kept[0] == kept[1]
    assert kept[0][0].startswith(b"\x89PNG")
    assert kept[0][1].startswith(b"%PDF")
