import itertools

import numpy as np
import pandas as pd
import pytest

from label_counts import LINES, METRICS, check_whole, cut, drawn, markdown, severity_read
from onepeak.data.datasets.biopsies import biopsies


def runs_of(*, folds: int = 2) -> pd.DataFrame:
    """Errors that grow from method to method; the first method is the best."""
    found = [
        {"data": "made", "labels": count, "method": method, "fold": fold} | dict.fromkeys(METRICS, 0.1 * count * place)
        for count, (place, method), fold in itertools.product((5, 100), enumerate(LINES, start=1), range(folds))
    ]
    return pd.DataFrame(found)


def test_in_eight_grades_the_images_have_the_labels_that_they_come_with() -> None:
    assert np.array_equal(cut(severity_read(200), 8), biopsies(200, size=16).labels)


def test_cut_into_classes_of_equal_width() -> None:
    assert cut(np.array([-0.1, 0.0, 0.19, 0.2, 1.3]), 5).tolist() == [0, 0, 0, 1, 4]


def test_errors_are_told_over_the_lowest() -> None:
    lines = markdown(runs_of()).splitlines()
    assert lines[0] == "| MAE over the lowest | 5 | 100 |"
    assert lines[2] == f"| {next(iter(LINES))} | 1.00 | 1.00 |"
    assert lines[3] == f"| {list(LINES)[1]} | 2.00 | 2.00 |"
    assert lines[2 + len(LINES)] == "| the lowest | 0.500 | 10.000 |"


def test_every_method_is_drawn_for_every_number_of_labels() -> None:
    (axes,) = drawn(runs_of()).axes
    assert {line.get_label(): list(line.get_xdata()) for line in axes.lines} == {method: [5, 100] for method in LINES}


def test_folds_that_a_method_lacks_are_named() -> None:
    check_whole(runs_of())
    with pytest.raises(SystemExit, match=r"5 +ce +1"):
        check_whole(runs_of().iloc[1:])
