from onepeak.metrics.catalog import METRICS
from onepeak.report.measured import MEASURED


def test_every_metric_can_be_in_a_table_and_calibrated_scores_and_intervals_too():
    names = [record.name for record in MEASURED]
    assert [name for name in names if name in METRICS] == [record.name for record in METRICS]
    assert [name for name in names if name not in METRICS] == [
        "rps_calibrated", "nll_calibrated", "interval_coverage", "interval_size",
    ]  # fmt: skip


def test_a_calibrated_score_is_read_as_the_one_as_trained():
    for name in ("rps", "nll"):
        plain, calibrated = METRICS[name], MEASURED[f"{name}_calibrated"]
        assert calibrated.high == plain.high
        assert calibrated.higher_is_better == plain.higher_is_better
        assert calibrated.title == f"{plain.title}, calibrated"
