import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from onepeak.errors import InputError
from onepeak.report.source import Source
from onepeak.serving.inspector.run_predictions import Archive, BoundedCache, read_calibration
from onepeak.serving.inspector.runs import find_runs
from onepeak.training.model_files import load_description
from report.whole_runs import write_whole_comparison, write_whole_run


@pytest.fixture
def archive(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0}, splits=3, num_test=10)
    for broken in ("ce/split1-fold0", "elb/split0-fold0", "elb/split1-fold0", "elb/split2-fold0"):
        (tmp_path / "runs" / broken / "predictions.parquet").write_bytes(b"cut off")
    return Archive(find_runs(tmp_path).runs, 5, {})


def test_runs_that_cannot_be_read_are_left_out(archive):
    assert list(archive.of_row("ce")) == ["0-0", "2-0"]
    assert archive.of_row("ce", "1-0") == {}
    assert archive.samples("ce").parts == ("0-0", "2-0")
    assert archive.parts_with(3) == ("0-0", "2-0")
    assert [(run.row, place) for run, _, place in archive.of_part("2-0", 3)] == [("ce", 3)]
    assert list(archive.of_part("2-0", 10)) == []


@pytest.mark.bad_input
def test_a_row_without_any_is_told(archive):
    with pytest.raises(InputError, match="`elb` must have runs whose predictions can be read, got none"):
        archive.samples("elb")


def test_what_was_read_once_is_not_read_again(archive):
    run = archive.runs["ce", "0-0"]
    first = archive.predictions(run)
    (run.folder / "predictions.parquet").unlink()
    assert archive.predictions(run) is first


def test_to_find_a_sample_no_more_is_read_than_one_run_of_each_part(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0}, splits=2, num_test=10)
    archive = Archive(find_runs(tmp_path).runs, 5, {})
    assert next(archive.of_part("1-0", 3))[0].row == "ce"
    assert list(archive._predictions._values) == [("ce", "1-0")]
    assert archive.parts_with(3) == ("0-0", "1-0")
    assert sorted(archive._predictions._values) == [("ce", "0-0"), ("ce", "1-0")]


def test_what_is_given_needs_no_disk(archive):
    run = archive.runs["ce", "0-0"]
    given = Archive([run], 5, {("elb", "0-0"): archive.predictions(run), ("ce", "0-0"): archive.predictions(run)})
    (run.folder / "predictions.parquet").unlink()
    assert given.predictions(run) is archive.predictions(run)


def test_names_are_those_of_the_parts(archive):
    names = archive.names("ce", Source(manifest=None))
    assert names["2-0"] == [f"item {item}" for item in range(10)]


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


def test_what_was_asked_for_longest_ago_goes_first():
    cache = BoundedCache(most=2, size=lambda _: 1)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda key=key: key)
    assert [cache.get(key, lambda: "made again") for key in ("a", "c", "b")] == ["a", "c", "made again"]


def test_the_total_never_exceeds_the_bound_but_for_one_value_alone():
    cache = BoundedCache(most=100, size=len)
    for number in range(200):
        cache.get(number, lambda number=number: b"x" * (number % 90))
        assert cache.total <= 100
    assert len(cache.get("large", lambda: b"x" * 500)) == 500
    assert cache.total == 500


def test_threads_share_it():
    cache = BoundedCache(most=50, size=len)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: cache.get(number % 20, lambda: str(number % 20) * 5), range(2000)))
    assert found == [str(number % 20) * 5 for number in range(2000)]
    assert cache.total <= 50
