import numpy as np
import pandas as pd

from onepeak.data.frame import from_frame
from onepeak.data.manifest import ImageArrays, Manifest
from onepeak.report.source import Source
from onepeak.serving.inspector.said import Said
from onepeak.serving.inspector.sample_names import sample_names


def said(paths):
    count = len(paths)
    return Said(
        item=np.arange(count),
        path=np.array(paths, dtype=object),
        label=np.zeros(count, dtype=np.int64),
        predicted=np.zeros(count, dtype=np.int64),
        log_probs=np.zeros((count, 2), dtype=np.float32),
    )


def test_a_sample_is_called_by_its_path_or_its_number():
    assert sample_names(said(["a/1.png", None]), Source(manifest=None)) == ["a/1.png", "item 1"]


def test_a_row_of_a_table_is_called_by_its_line():
    manifest = from_frame(pd.DataFrame({"x": [1.0, 2.0], "label": [0, 1]}, index=[2, 4]))
    # the second has another label now: it is another row
    assert sample_names(said([None, None]), Source(manifest=manifest)) == ["row 2", "item 1"]


def test_who_it_belongs_to_is_added_where_that_is_known():
    manifest = Manifest(
        name="mine",
        items=ImageArrays(pixels=np.zeros((2, 4, 4, 3), dtype=np.uint8)),
        labels=np.array([0, 1]),
        classes=("a", "b"),
        groups=("anna", "ben"),
    )
    # the second has another label now: it is another sample, and nobody's
    assert sample_names(said([None, None]), Source(manifest=manifest)) == ["item 0 · anna", "item 1"]
