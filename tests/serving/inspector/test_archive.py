import pytest

from onepeak.errors import InputError
from onepeak.report.source import Source
from onepeak.serving.inspector.archive import Archive
from onepeak.serving.inspector.runs import find_runs
from report.whole_runs import write_whole_comparison


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
    first = archive.said(run)
    (run.folder / "predictions.parquet").unlink()
    assert archive.said(run) is first


def test_to_find_a_sample_no_more_is_read_than_one_run_of_each_part(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0}, splits=2, num_test=10)
    archive = Archive(find_runs(tmp_path).runs, 5, {})
    assert next(archive.of_part("1-0", 3))[0].row == "ce"
    assert list(archive._said._values) == [("ce", "1-0")]
    assert archive.parts_with(3) == ("0-0", "1-0")
    assert sorted(archive._said._values) == [("ce", "0-0"), ("ce", "1-0")]


def test_what_is_given_needs_no_disk(archive):
    run = archive.runs["ce", "0-0"]
    given = Archive([run], 5, {("elb", "0-0"): archive.said(run), ("ce", "0-0"): archive.said(run)})
    (run.folder / "predictions.parquet").unlink()
    assert given.said(run) is archive.said(run)


def test_names_are_those_of_the_parts(archive):
    names = archive.names("ce", Source(manifest=None))
    assert names["2-0"] == [f"item {item}" for item in range(10)]
