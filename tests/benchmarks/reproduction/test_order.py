import math

from reproduction.order import one_peaked_after_projection, order_table


def test_projected_posteriors_have_one_peak(runs):
    assert one_peaked_after_projection(runs[runs["name"] == "CE"]) == 1.0  # scores drawn at random before


def test_without_predictions_nothing_can_be_projected(runs):
    assert math.isnan(one_peaked_after_projection(runs[runs["name"] == "ELB"]))


def test_each_method_and_form_has_a_row(runs):
    rows = [line.strip("| ").split(" | ") for line in order_table(runs).splitlines()[2:]]
    assert [row[:2] for row in rows] == [
        ["LD", "as published"],
        ["CE", "corrected"],
        ["LD", "corrected"],
        ["MV", "corrected"],
        ["PN", "corrected"],
        ["ELB", "corrected"],
    ]
    missing = "\N{EN DASH}"
    rps = ["0.50 ± 0.00 (3)", "3.00 ± 0.00 (3)"]
    assert rows[1][2:] == ["0.0 ± 0.0 (3)", "100.0", "2.0", *rps, "2.50 ± 0.00 (3)", "20.0 ± 0.0 (3)", "90"]
    assert rows[5][2:4] == ["75.0 ± 7.1 (2)", missing]
