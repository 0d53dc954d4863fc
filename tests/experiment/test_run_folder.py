import json
import time

import pytest

from onepeak.errors import InputError
from onepeak.experiment.entries import MethodEntry
from onepeak.experiment.grid import Run
from onepeak.experiment.run_folder import claim, forget_failure, read_failure, read_result, write_failure
from onepeak.experiment.run_json import failed_runs

RUN = Run(entry=MethodEntry(name="elb", settings={"t": 2}), split=1, fold=0)


def test_a_run_is_claimed_once_and_free_again_afterwards(tmp_path):
    with claim(tmp_path / "run") as first, claim(tmp_path / "run") as second:
        assert (first, second) == (True, False)
    with claim(tmp_path / "run") as again:
        assert again


def test_a_failure_is_kept_with_its_traceback_and_listed_for_the_report(tmp_path):
    folder = RUN.folder(tmp_path)
    folder.mkdir(parents=True)
    assert read_failure(folder) is None
    try:
        raise ValueError("no luck")
    except ValueError as error:
        write_failure(folder, RUN, "It failed.", error=error)
    assert read_failure(folder) == "It failed."
    content = json.loads((folder / "error.json").read_text())
    assert (content["label"], content["split"], content["kind"]) == ("elb-t-2", 1, "ValueError")
    assert "ValueError: no luck" in content["traceback"]
    (failed,) = failed_runs(tmp_path)
    assert (failed.label, failed.name, failed.message) == ("elb-t-2", "split1-fold0", "It failed.")
    forget_failure(folder)
    assert read_failure(folder) is None


@pytest.mark.parametrize("content", ['{"mess', '{"time": 1e12}', "[]", "\xff"])
def test_a_damaged_failure_is_a_failure_whose_reason_cannot_be_read(tmp_path, content):
    (tmp_path / "error.json").write_text(content, encoding="latin-1")
    assert read_failure(tmp_path) == f"the reason cannot be read, as {tmp_path / 'error.json'} is damaged"
    assert read_failure(tmp_path, since=time.time() + 60) is None, "it is tried again"


def test_a_failure_before_some_moment_does_not_count(tmp_path):
    write_failure(tmp_path, RUN, "It failed.")
    assert read_failure(tmp_path, since=time.time() + 60) is None
    assert read_failure(tmp_path, since=time.time() - 60) == "It failed."


def test_a_run_without_a_result_has_none_and_a_damaged_one_is_named(tmp_path):
    assert read_result(tmp_path) is None
    (tmp_path / "result.json").write_text('{"label": "elb"}')
    assert read_result(tmp_path) == {"label": "elb"}
    (tmp_path / "result.json").write_text('{"label": "el')
    with pytest.raises(InputError, match=r"result\.json is damaged .*delete its folder to run it again"):
        read_result(tmp_path)
