import numpy as np
import pytest
from PIL import Image

from onepeak.experiment.ranks import compare_ranks
from onepeak.report.diagram import critical_difference_diagram, write_diagram


@pytest.fixture
def comparison():
    """Two good methods and two bad ones on many data sets, so that there are two groups."""
    rows = [[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]] * 10
    return compare_ranks(np.array(rows), ("ce", "mv", "pn", "elb"), higher_is_better=True)


def test_of_many_ranks_every_fifth_is_numbered():
    names = tuple(f"method{number}" for number in range(30))
    values = np.stack([np.arange(30.0), np.arange(30.0)])
    many = critical_difference_diagram(compare_ranks(values, names, higher_is_better=False))
    numbers = [text.get_text() for text in many.axes[0].texts if text.get_text().isdecimal()]
    assert numbers == ["1", "5", "10", "15", "20", "25", "30"]


def test_every_method_is_named_with_its_mean_rank(comparison):
    texts = [text.get_text() for text in critical_difference_diagram(comparison, title="SOI").axes[0].texts]
    assert [text for text in texts if "1.50" in text or "3.50" in text] == [
        "pn  1.50", "elb  1.50", "3.50  ce", "3.50  mv",
    ]  # fmt: skip
    assert "SOI" in texts
    assert f"critical difference {comparison.critical_difference:.2f}, 20 data sets" in texts


def test_a_bar_joins_methods_that_are_not_told_apart(comparison):
    assert comparison.groups == (("pn", "elb"), ("ce", "mv"))
    axes = critical_difference_diagram(comparison).axes[0]
    bars = [line.get_xdata() for line in axes.lines if line.get_linewidth() > 3]
    assert [(float(np.mean(ends)), ends[1] > ends[0]) for ends in bars] == [(1.5, True), (3.5, True)]


def test_the_best_rank_is_on_the_left(comparison):
    low, high = critical_difference_diagram(comparison).axes[0].get_xlim()
    assert low < 1 < 4 < high


def test_the_same_ranks_give_the_same_bytes_as_png_and_pdf(comparison, tmp_path):
    first = write_diagram(comparison, tmp_path / "ranks-mae", title="MAE")
    second = write_diagram(comparison, tmp_path / "again", title="MAE")
    assert [path.name for path in first] == ["ranks-mae.png", "ranks-mae.pdf"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    with Image.open(first[0]) as picture:
        assert picture.width > 1000
    assert first[1].read_bytes().startswith(b"%PDF")


def test_a_long_name_is_not_cut_off(tmp_path):
    long = "a-method-with-a-very-long-name-and-settings"
    values = np.array([[1.0, 2.0], [1.0, 2.0]])
    short, wide = (compare_ranks(values, ("ce", name), higher_is_better=True) for name in ("elb", long))
    pictures = [write_diagram(each, tmp_path / f"{i}")[0] for i, each in enumerate((short, wide))]
    with Image.open(pictures[0]) as narrow, Image.open(pictures[1]) as wide_one:
        assert wide_one.width > narrow.width
