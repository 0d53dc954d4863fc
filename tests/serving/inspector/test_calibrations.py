import shutil

from onepeak.serving.inspector.calibrations import read_calibration
from onepeak.serving.inspector.runs import find_runs
from onepeak.training.model_files import load_description
from report.whole_runs import write_whole_run


def test_the_models_own_calibration_is_taken_and_learnt_again_where_no_model_was_kept(compared, tmp_path):
    run = find_runs(compared).runs[0]
    own = load_description(run.folder).calibration
    assert own is not None
    assert read_calibration(run) == own
    copy = tmp_path / "run"
    shutil.copytree(run.folder, copy, ignore=shutil.ignore_patterns("onepeak.json", "model.safetensors"))
    assert read_calibration(find_runs(copy).runs[0]) == own


def test_without_a_validation_part_there_is_none(tmp_path):
    write_whole_run(tmp_path, method="ce")
    assert read_calibration(find_runs(tmp_path).runs[0]) is None
