import numpy as np
from scipy import stats

from reproduction.against import against_table
from reproduction.text import number, p_value


def test_methods_are_paired_with_elb_split_by_split_and_corrected_after_holm(runs):
    rows = [line.strip("| ").split(" | ") for line in against_table(runs).splitlines()[2:]]
    by_name = {row[0]: row for row in rows}
    assert list(by_name) == ["CE", "LD", "MV", "PN"]  # and no line for the published form, which has no ELB
    differences = np.array([5 - 4, 6 - 4.5])
    t = differences.mean() / np.sqrt((1 / 2 + 208 / 649) * differences.var(ddof=1))
    p = 2 * stats.t.sf(t, df=1)
    assert by_name["CE"][1:5] == ["corrected", "2", number(1.25, 2, signed=True), p_value(3 * p)]  # three tests in all
    assert by_name["LD"][2:5] == ["1", "+0.00", "\N{EN DASH}"]  # one pair is no test
