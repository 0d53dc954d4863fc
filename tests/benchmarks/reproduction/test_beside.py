import math

import pytest

from onepeak.errors import InputError
from reproduction.beside import differences, differences_table, paper_table, read_explanations, split_table


def difference(runs, method, metric, form="corrected"):
    found = [each for each in differences(runs) if (each.method, each.metric, each.form) == (method, metric, form)]
    return found[0]


def test_the_standard_error_is_that_of_a_difference_of_two_means(runs):
    found = difference(runs, "ce", "mae")  # 5, 6 and 7 here; 7.79 with a deviation of .79 there
    assert found.value == pytest.approx(6 - 7.79)
    assert found.standard_error == pytest.approx(math.sqrt(0.79**2 / 10 + 1 / 3))
    assert found.large is (1.79 / math.sqrt(0.79**2 / 10 + 1 / 3) > 2)


def test_one_run_has_no_standard_error(runs):
    assert difference(runs, "ld", "mae").large is None


def test_the_table_has_the_printed_figure_and_both_forms_with_their_numbers(runs):
    rows = {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ") for line in paper_table(runs).splitlines()}
    assert rows["LD"] == ["LD", "18.25 ± 0.86", "18.00 (1)", "4.00 (1)", "51.6 ± 0.2", "52.0 (1)", "60.0 (1)"]
    assert rows["PO"][1] == "--"
    assert rows["ELB"][3] == "4.25 ± 0.35 (2)"


def test_a_large_difference_is_explained_or_called_unexplained(runs):
    found = [difference(runs, "ce", "mae"), difference(runs, "pn", "mae"), difference(runs, "elb", "soi_predicted")]
    assert [each.large for each in found] == [True, False, False]
    told = [line.split(" | ")[-1].strip(" |") for line in differences_table(found, {}).splitlines()[2:]]
    assert told == ["**unexplained**", "within two", "within two"]
    known = {"corrected": {"mae": {"ce": "the moon", "pn": "the sun"}}}
    told = [line.split(" | ")[-1].strip(" |") for line in differences_table(found, known).splitlines()[2:]]
    assert told == ["the moon", "within two", "within two"]  # what is not large needs no explanation


def test_a_split_that_was_not_run_is_empty(runs):
    rows = [line.strip("| ").split(" | ") for line in split_table(runs).splitlines()]
    assert ["ELB", "corrected", "4.00", "4.50", "\N{EN DASH}"] in rows
    assert ["CE", "corrected", "5.00", "6.00", "7.00"] in rows


@pytest.mark.bad_input
@pytest.mark.parametrize("key", ["correct.mae.ce", "corrected.rps.ce", "corrected.mae.CE"])
def test_an_explanation_of_nothing_is_told_of(tmp_path, key):
    form, metric, method = key.split(".")
    (tmp_path / "explanations.toml").write_text(f'[{form}.{metric}]\n{method} = "why"\n')
    with pytest.raises(InputError, match=rf"must have tables such as \[corrected\.mae\] .*, got {key}\."):
        read_explanations(tmp_path / "explanations.toml")
