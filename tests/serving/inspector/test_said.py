import numpy as np
import pytest

from onepeak.errors import InputError
from onepeak.serving.inspector.runs import find_runs
from onepeak.serving.inspector.said import read_said
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
