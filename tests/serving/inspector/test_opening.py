import pytest

from onepeak.data.biopsies import GRADES
from onepeak.errors import InputError
from onepeak.serving.inspector import open_inspection
from report.whole_runs import write_whole_run


def test_a_run_of_a_comparison_is_shown_with_its_data_and_classes(compared):
    shown = open_inspection(compared / "runs" / "ce" / "split1-fold0")
    assert (shown.posteriors.kind, shown.parts, shown.classes) == ("pictures", ("1-0",), GRADES)


def test_data_that_were_moved_are_found_by_their_root(tmp_path):
    write_whole_run(tmp_path, method="ce")
    (tmp_path / "config.toml").write_text('data = "fgnet"\nroot = "/nowhere"\n')
    assert "nowhere" in open_inspection(tmp_path).posteriors.source.reason
    assert str(tmp_path / "here") in open_inspection(tmp_path, root=str(tmp_path / "here")).posteriors.source.reason


@pytest.mark.bad_input
def test_a_root_has_no_use_for_a_run_that_does_not_say_where_its_data_lay(tmp_path):
    run = write_whole_run(tmp_path, method="ce")
    with pytest.raises(InputError, match="has no use for a single run: give --data"):
        open_inspection(run, root="data")
