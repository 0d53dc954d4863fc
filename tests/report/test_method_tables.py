import json
import re

import pytest

from onepeak.experiment.results import read_results
from onepeak.metrics.catalog import METRICS
from onepeak.report.method_tables import Cell, WideTable, latex_escaped, latex_table, markdown_table, wide_tables
from onepeak.report.summary import TABLE_METRICS, summary
from run_folders import write_comparison, write_run


@pytest.fixture
def table(tmp_path):
    figures = {"ce": [1.0, 1.5, 1.25, 1.25], "elb": [0.5, 0.75, 0.5, 0.25]}
    return summary(read_results(write_comparison(tmp_path, figures)))


def test_the_best_is_bold_and_what_is_really_worse_has_a_star(table):
    [only] = wide_tables(table, metrics=["mae"])
    assert only.header == ("method", "runs", "error (MAE) ↓")
    (ce, runs, worse), (elb, _, best) = only.rows
    assert (ce.text, runs.text, elb.text) == ("ce", "4", "elb")
    assert (worse.text, worse.bold, worse.mark) == ("1.250 ± 0.204", False, "*")
    assert (best.text, best.bold, best.mark) == ("0.500 ± 0.204", True, "")
    assert "* worse than the best: p < 0.05 (corrected resampled t-test, Holm)" in only.caption


def test_against_a_row_of_ones_choice_what_is_really_better_has_a_sign_too(tmp_path):
    figures = {"ce": [1.0, 1.1, 1.0, 0.9], "elb": [0.5, 0.6, 0.4, 0.5], "mv": [1.9, 2.0, 2.1, 2.0]}
    runs = read_results(write_comparison(tmp_path, figures))
    [only] = wide_tables(summary(runs, against="ce"), metrics=["mae"])
    assert [(row[0].text, row[2].bold, row[2].mark) for row in only.rows] == [
        ("ce", False, ""), ("mv", False, "*"), ("elb", True, "‡"),
    ]  # fmt: skip
    assert "* worse, ‡ better than ce: p < 0.05 (corrected resampled t-test, Holm)" in only.caption
    higher = runs.assign(test_soi_predicted=runs["test_mae"])
    [only] = wide_tables(summary(higher, against="ce"), metrics=["soi_predicted"])
    assert [row[2].mark for row in only.rows] == ["", "‡", "*"]


def test_a_tie_is_bold_twice_and_has_no_star(table):
    [only] = wide_tables(table, metrics=["accuracy"])
    assert [(row[2].text, row[2].bold, row[2].mark) for row in only.rows] == [("0.5000 ± 0.0000", True, "")] * 2


def test_bold_and_star_are_by_the_splits_that_all_have_and_the_caption_says_so(tmp_path):
    figures = {"ce": [1.4, 1.6, 1.5], "elb": [0.9, 1.1, 1.0, 5.0, 5.1, 4.9]}
    [only] = wide_tables(summary(read_results(write_comparison(tmp_path, figures))), metrics=["mae"])
    (_, _, ce), (_, runs, elb) = only.rows
    assert (ce.text, ce.bold) == ("1.500 ± 0.100", False)
    assert (runs.text, elb.text, elb.bold, elb.mark) == ("6", "3.000 ± 2.193", True, "")
    assert "both over the runs that all methods share: error (MAE) 3" in only.caption


def test_a_complete_comparison_needs_no_such_word(table):
    assert "methods share" not in wide_tables(table)[0].caption


def test_the_chance_level_stands_in_the_caption(table):
    [only] = wide_tables(table, metrics=["mae", "soi_predicted", "soi_true"])
    assert only.caption.endswith("random guessing: consistency (SOI) 0.750, SOI to the truth 0.500.")


def test_two_runs_have_no_sign_and_the_caption_says_so(tmp_path):
    figures = {"ce": [1.50, 1.60], "elb": [0.5, 0.6001]}  # the differences are nearly equal: p = 0.00004
    table = summary(read_results(write_comparison(tmp_path, figures)))
    assert table.loc[table["metric"] == "mae", "p_value"].min() < 0.001
    [only] = wide_tables(table, metrics=["mae"])
    assert [row[2].mark for row in only.rows] == ["", ""]
    assert "; too few runs to name a winner (at least 3 needed)" in only.caption
    assert "p <" not in only.caption


def test_the_caption_says_who_decides_otherwise_than_by_the_mode(tmp_path):
    for method in ("ce", "ren", "mv", "rps", "mine"):
        write_run(tmp_path, method=method)
    first, *others = wide_tables(summary(read_results(tmp_path)))
    levels = "consistency (SOI) 0.750 (of the mode) or 0.664 (of the median) or 0.561 (of the mean)"
    assert f"{levels}; " in first.caption
    assert first.caption.endswith(
        "; ren and rps decide by the median and mv by the mean, not by the mode: where that is not the peak, "
        "the SOI is below 1 even with one peak."
    )
    assert not any("decide" in table.caption for table in others)


def test_of_one_rule_the_caption_names_it_again(tmp_path):
    for method in ("ce", "corn"):
        write_run(tmp_path, method=method)
    assert wide_tables(summary(read_results(tmp_path)))[0].caption.endswith(
        "; corn decides by the median, not by the mode: where the median is not the peak, the SOI is below 1 "
        "even with one peak."
    )


def test_what_should_be_as_promised_has_no_arrow(tmp_path):
    figures = {"coverage": 0.875, "interval_size": 2.0}
    write_run(tmp_path, method="elb", calibration={"temperature": 1.0, "test": figures})
    table = wide_tables(summary(read_results(tmp_path)))[-1]
    assert table.header[-2:] == ("interval coverage", "interval size ↓")
    assert "methods share" not in table.caption


def test_every_metric_is_in_exactly_one_table(table):
    names = [name.removesuffix(" ↑").removesuffix(" ↓") for each in wide_tables(table) for name in each.header[2:]]
    assert sorted(names) == sorted(TABLE_METRICS[record.name].short for record in METRICS)
    assert names[:3] == ["error (MAE)", "QWK", "consistency (SOI)"]


def test_the_first_table_has_the_scores_of_calibrated_posteriors_and_a_further_one_those_as_trained(tmp_path):
    write_run(tmp_path, method="ce", rps=0.4, calibration={"temperature": 2.0, "test": {"rps": 0.25, "nll": 1.5}})
    first, *others = wide_tables(summary(read_results(tmp_path)))
    assert (first.header[-1], first.rows[0][-1].text) == ("RPS calibrated ↓", "0.250")
    assert "RPS ↓" not in first.header
    assert any("RPS ↓" in table.header for table in others)


def test_the_metric_that_chose_the_epochs_comes_first(tmp_path):
    write_run(tmp_path, method="ce", selected_by="tau")
    write_run(tmp_path, method="elb", selected_by="loss")
    first, *others = wide_tables(summary(read_results(tmp_path)))
    assert first.header[2:5] == ("tau ↑", "error (MAE) ↓", "QWK ↑")
    assert not any("tau ↑" in table.header for table in others)


def test_the_caption_says_what_one_answer_to_everything_reaches_on_the_same_test_parts(tmp_path):
    for split, error in enumerate((1.5, 1.0)):
        constant = {"label": "mild", "valid_mae": 9.0, "test_mae": error}
        write_run(tmp_path, method="ce", split=split, constant=constant)
        if not split:
            write_run(tmp_path, method="elb", split=split, constant=constant)
    table = summary(read_results(tmp_path))
    assert set(table.loc[table["metric"] == "mae", "constant"]) == {1.25}  # every split counts once
    assert table.loc[table["metric"] == "accuracy", "constant"].isna().all()
    first, *others = wide_tables(table)
    assert "; one constant class: MAE 1.250; " in first.caption
    assert not any("same answer" in each.caption for each in others)


def test_records_that_know_neither_the_median_nor_the_constant_have_tables_without_them(tmp_path):
    place = write_run(tmp_path, method="ce") / "result.json"
    record = json.loads(place.read_text())
    del record["metrics"]["test"]["mae_median"]
    place.write_text(json.dumps(record))
    tables = wide_tables(summary(read_results(tmp_path)))
    assert not any("median" in name for table in tables for name in table.header)
    assert "one constant class" not in tables[0].caption


def test_what_is_not_defined_is_a_dash_and_one_run_has_no_deviation(tmp_path):
    write_run(tmp_path, method="ce", tau=None, qwk=-0.25)
    [only] = wide_tables(summary(read_results(tmp_path)), metrics=["tau", "qwk"])
    assert [cell.text for cell in only.rows[0]] == ["ce", "1", "\N{EN DASH}", "\N{MINUS SIGN}0.2500"]
    assert "*" not in only.caption


def test_the_paper_stands_beside_ours_with_the_difference(tmp_path):
    known = {"dataset": "fgnet", "protocol": "fgnet-authors"}
    write_comparison(tmp_path, {"ld": [5.0, 6.0], "elb": [4.0, 4.5]}, **known, epochs=200)
    write_run(tmp_path, method="elb", label="elb-short", **known, mae=4.5, epochs=60)
    write_run(tmp_path, method="slopes", dataset="fgnet")
    *_, beside = wide_tables(summary(read_results(tmp_path)))
    assert beside.title == "fgnet, beside Belharbi et al. 2019"
    assert beside.header == (
        "method", "error (MAE) paper", "ours", "difference", "consistency (SOI) paper", "ours", "difference",
    )  # fmt: skip
    texts = [[cell.text + cell.mark for cell in row[:4]] for row in beside.rows]
    assert texts == [
        ["ld†", "18.250 ± 0.860", "5.500 ± 0.707", "\N{MINUS SIGN}12.750"],
        ["elb", "4.270 ± 0.470", "4.250 ± 0.354", "\N{MINUS SIGN}0.020"],
        ["elb-short†", "4.270 ± 0.470", "4.500", "+0.230"],
    ]
    assert "† other formulas, settings or training than the paper's" in beside.caption


def test_a_data_set_that_is_not_in_the_paper_has_no_such_table(table):
    assert not [each.title for each in wide_tables(table) if "beside" in each.title]


TABLE = WideTable(
    title="my_data & more",
    header=("method", "mae ↓", "soi ↑"),
    rows=(
        (Cell(text="a_b"), Cell(text="0.5 ± 0.1", bold=True), Cell(text="\N{EN DASH}")),
        (Cell(text="[c]", mark="†"), Cell(text="\N{MINUS SIGN}0.7", mark="*"), Cell(text="50%")),
    ),
    caption="p < 0.05.",
)


def test_a_table_is_written_as_booktabs_has_it():
    lines = [line.strip() for line in latex_table(TABLE).splitlines()]
    assert lines == [
        r"\begin{table}[htbp]",
        r"\centering",
        r"\caption{my\_data \& more. p $<$ 0.05.}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"method & mae $\downarrow$ & soi $\uparrow$ \\",
        r"\midrule",
        r"a\_b & \textbf{0.5 $\pm$ 0.1} & -- \\",
        r"{[}c]$^{\dagger}$ & $-$0.7$^{*}$ & 50\% \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_every_character_that_latex_would_read_is_escaped():
    hostile = r"\ & % $ # _ { } ~ ^ < >"
    text = latex_escaped(hostile)
    assert text == (
        r"\textbackslash{} \& \% \$ \# \_ \{ \} \textasciitilde{} \textasciicircum{} $<$ $>$"
    )  # each of them once, as the symbol
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0


def test_signs_that_markdown_would_read_are_shown_as_they_are():
    row = (Cell(text="a|b_c", mark="†"), Cell(text="0.5 ± 0.1", bold=True), Cell(text="0.7", mark="*"))
    table = WideTable(title="my_data", header=("method", "x_1 ↓", "y"), rows=(row,), caption="* p < 0.05.")
    assert markdown_table(table).splitlines() == [
        r"## my\_data",
        "",
        r"| method | x\_1 ↓ | y |",
        "|:---|---:|---:|",
        r"| a\|b\_c† | **0.5 ± 0.1** | 0.7\* |",
        "",
        r"\* p \< 0.05.",
    ]
