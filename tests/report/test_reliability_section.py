from onepeak.experiment.records import read_results
from onepeak.report.evidence import gather
from onepeak.report.reliability_section import reliability_section
from onepeak.report.source import Source
from onepeak.report.summary import summary
from report.whole_runs import write_whole_comparison


def section_of(folder):
    runs = read_results(folder)
    return reliability_section(gather("mine", runs, summary(runs), Source(manifest=None)))


def test_nothing_is_said_to_be_left_out_where_every_bin_holds_a_handful_and_is_shown(tmp_path):
    few = write_whole_comparison(tmp_path, {"elb": 0.0}, splits=1, num_test=4, calibration={"temperature": 1.5})
    section = section_of(few)
    charts = [chart for chart in section.charts if "most probable" in chart.name]
    assert [chart.caption for chart in charts] == ["", ""]
    assert "left out" not in section.text


def test_groups_count_for_intervals_and_rows_that_are_off_by_class_are_named(tmp_path):
    groups, gap = {"train": 90, "valid": 30, "test": 30}, {"label": "1", "probability": 0.2, "share": 0.1}
    known = {"calibration": {"temperature": 1.5}, "num_test": 100, "splits": 2}
    write_whole_comparison(tmp_path, {"elb": 0.0}, num_groups=groups, frequency_gap=gap, **known)
    write_whole_comparison(tmp_path, {"ce": 0.0}, **known)
    caption = section_of(tmp_path).table.caption
    assert (
        "is not its share of the validation part: ELB (2 runs). 90 % intervals were set on 100 validation " in caption
    )
    assert "samples of 30 groups: real coverage" in caption
