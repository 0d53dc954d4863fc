import numpy as np
import pandas as pd
import pytest

from onepeak.data.frame import from_frame
from onepeak.data.manifest import ImageArrays, Manifest
from onepeak.errors import InputError
from onepeak.report.source import Source
from onepeak.serving.inspector.runs import find_runs
from onepeak.serving.inspector.said import Said, read_said
from report.whole_runs import write_whole_run


def test_a_sample_is_found_by_its_item(tmp_path):
    write_whole_run(tmp_path, method="ce", num_test=7, num_classes=4)
    said = read_said(find_runs(tmp_path).runs[0], 4)
    assert said.place(3) == 3
    assert said.place(7) is None
    assert np.exp(said.log_probs).sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert said.num_bytes >= said.log_probs.nbytes


@pytest.mark.bad_input
def test_posteriors_over_other_classes_are_refused(tmp_path):
    write_whole_run(tmp_path, method="ce", num_classes=4)
    with pytest.raises(InputError, match="must hold posteriors over 5 classes, got some over 4"):
        read_said(find_runs(tmp_path).runs[0], 5)


def names(paths, source):
    count = len(paths)
    said = Said(
        item=np.arange(count),
        path=np.array(paths, dtype=object),
        label=np.zeros(count, dtype=np.int64),
        predicted=np.zeros(count, dtype=np.int64),
        log_probs=np.zeros((count, 2), dtype=np.float32),
    )
    return [said.name(place, source) for place in range(count)]


def test_a_sample_is_called_by_its_path_or_its_number():
    assert names(["a/1.png", None], Source(manifest=None)) == ["a/1.png", "item 1"]


def test_a_row_of_a_table_is_called_by_its_line():
    manifest = from_frame(pd.DataFrame({"x": [1.0, 2.0], "label": [0, 1]}, index=[2, 4]))
    # the second has another label now: it is another row
    assert names([None, None], Source(manifest=manifest)) == ["row 2", "item 1"]


def test_who_it_belongs_to_is_added_where_that_is_known():
    manifest = Manifest(
        name="mine",
        items=ImageArrays(pixels=np.zeros((2, 4, 4, 3), dtype=np.uint8)),
        labels=np.array([0, 1]),
        classes=("a", "b"),
        groups=("anna", "ben"),
    )
    # the second has another label now: it is another sample, and nobody's
    assert names([None, None], Source(manifest=manifest)) == ["item 0 · anna", "item 1"]
