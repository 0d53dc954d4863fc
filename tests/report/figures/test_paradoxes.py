from dataclasses import replace

import numpy as np
import pytest

from onepeak.report.figures.paradoxes import Case, interactive_case, printed_cases
from onepeak.report.palette import styles

LOOKS = styles({"ce": "ce", "elb": "elb"})
CLASSES = ["low", "middle", "high"]
CASE = Case(
    row="ce",
    split=0,
    fold=0,
    name="a.png",
    place=3,
    label=1,
    first=0,
    second=2,
    probs={
        "ce": np.array([0.5, 0.1, 0.4], dtype=np.float32),
        "elb": np.array([0.2, 0.6, 0.2], dtype=np.float32),
    },
    predicted={"ce": 0, "elb": 1},
    truth=np.log([0.1, 0.8, 0.1]),
)


def test_the_accused_is_drawn_last_and_thickest_over_the_others_and_the_truth():
    truth, other, accused = interactive_case(CASE, CLASSES, LOOKS).data
    assert (truth.name, truth.y.tolist()) == ("true posterior", pytest.approx([0.1, 0.8, 0.1]))
    assert (other.name, accused.name) == ("elb", "ce")
    assert accused.line.width > other.line.width
    assert accused.y.tolist() == pytest.approx([0.5, 0.1, 0.4])
    figure = interactive_case(replace(CASE, truth=None), CLASSES, LOOKS)
    assert [trace.name for trace in figure.data] == ["elb", "ce"]
    assert figure.layout.shapes[0].x0 == 1


def test_in_print_a_case_has_its_image_or_its_row_if_there_is_one():
    image, row = np.zeros((8, 8, 3), dtype=np.uint8), {"age": "41", "price in $ of the year before the last": "$5"}
    figure = printed_cases([CASE, CASE, CASE], [image, row, {}], CLASSES, LOOKS)
    assert [len(axes.images) for axes in figure.axes] == [1, 0, 0, 0, 0, 0]
    assert not any(text.get_parse_math() for text in figure.axes[2].texts)  # "$" is money here
    texts = [[text.get_text() for text in axes.texts] for axes in figure.axes[::2]]
    assert texts == [[], ["age\nprice in $ of the year be…", "41\n$5"], ["", ""]]
    assert figure.axes[0].get_title() == "ce: low, then high; true middle"
    assert len(figure.axes[1].lines) == 3
    decided = replace(CASE, predicted={"ce": 1, "elb": 1})  # not the most probable class
    figure = printed_cases([CASE, decided], [{}, {}], CLASSES, LOOKS)
    assert [len(axes.lines) for axes in figure.axes] == [3, 3]  # without samples, over the whole width
    assert figure.axes[1].get_title() == "ce: low, then high;\npredicted middle; true middle"
