import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from onepeak.errors import InputError
from onepeak.experiment.results import read_results
from onepeak.experiment.statistics import compare_ranks
from onepeak.metrics.catalog import METRICS
from onepeak.report.summary import COLUMNS, TABLE_METRICS, summary
from onepeak.report.tables import (
    HEADLINES,
    WIDEST,
    Cell,
    WideTable,
    critical_difference_diagram,
    latex_escaped,
    latex_table,
    markdown_table,
    rank_comparison,
    terminal_tables,
    wide_tables,
    write_tables,
)
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
    [tie] = wide_tables(table, metrics=["accuracy", "soi_predicted", "soi_true"])
    assert [(row[2].text, row[2].bold, row[2].mark) for row in tie.rows] == [("0.5000 ± 0.0000", True, "")] * 2
    assert tie.caption.endswith("random guessing: consistency (SOI) 0.750, SOI to the truth 0.500.")
    assert "methods share" not in tie.caption  # all have the same runs


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


def test_bold_and_star_are_by_the_splits_that_all_have_and_the_caption_says_so(tmp_path):
    figures = {"ce": [1.4, 1.6, 1.5], "elb": [0.9, 1.1, 1.0, 5.0, 5.1, 4.9]}
    [only] = wide_tables(summary(read_results(write_comparison(tmp_path, figures))), metrics=["mae"])
    (_, _, ce), (_, runs, elb) = only.rows
    assert (ce.text, ce.bold) == ("1.500 ± 0.100", False)
    assert (runs.text, elb.text, elb.bold, elb.mark) == ("6", "3.000 ± 2.193", True, "")
    assert "compared over the 3 runs that all methods share" in only.caption


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
    assert "consistency (SOI) 0.750 by the mode, 0.664 by the median, 0.561 by the mean; " in first.caption
    assert first.caption.endswith(
        "; ren and rps decide by the median and mv decides by the mean, not by the mode: where that is not the peak, "
        "the SOI is below 1 even with one peak."
    )
    assert not any("decide" in table.caption for table in others)


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


FIGURES = {"ce": [1.0, 1.5, 1.25, 1.25], "mv": [0.75, 1.0, 1.5, 0.75], "elb": [0.5, 0.75, 0.5, 0.25]}


@pytest.fixture
def folder(tmp_path):
    return write_comparison(tmp_path / "compared", FIGURES)


def test_the_csv_is_the_summary(folder):
    paths = write_tables(folder)
    assert [paths.csv, paths.markdown, paths.latex] == [folder / f"table.{end}" for end in ("csv", "md", "tex")]
    table = pd.read_csv(paths.csv)
    assert list(table.columns) == list(COLUMNS)
    expected = summary(read_results(folder))
    for name in ("method", "metric", "n", "best"):
        assert list(table[name]) == list(expected[name])
    for name in ("mean", "std", "p_value", "effect"):
        assert list(table[name]) == pytest.approx(list(expected[name]), nan_ok=True, rel=1e-9)


def test_the_same_runs_give_the_same_bytes_wherever_and_whenever_they_were_done(folder, tmp_path):
    first = write_tables(folder)
    later = tmp_path / "elsewhere"
    for label in reversed(FIGURES):
        for split in (2, 0, 3, 1):
            write_run(later, method=label, split=split, mae=FIGURES[label][split], seconds=99.0)
    second = write_tables(later)
    for one, other in ((first.csv, second.csv), (first.markdown, second.markdown), (first.latex, second.latex)):
        assert one.read_bytes() == other.read_bytes()


def test_the_tables_for_readers_hold_the_same_figures(folder):
    paths = write_tables(folder)
    markdown = paths.markdown.read_text()
    assert "| ce | 4 | 1.250 ± 0.204\\* |" in markdown
    assert "beside" not in markdown  # the paper has no such data set
    latex = paths.latex.read_text()
    assert latex.startswith("% needs \\usepackage{booktabs}\n")
    assert r"elb & 4 & \textbf{0.500 $\pm$ 0.204}" in latex
    further = math.ceil((len(METRICS) - sum(name in METRICS for name in HEADLINES)) / WIDEST)
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == 1 + further
    assert latex.count("{") == latex.count("}")


def test_all_tables_can_be_against_a_row_of_ones_choice(folder):
    paths = write_tables(folder, against="ce")
    assert set(pd.read_csv(paths.csv)["against"]) == {"ce"}
    assert "| elb | 4 | **0.500 ± 0.204**‡ |" in paths.markdown.read_text()
    assert r"elb & 4 & \textbf{0.500 $\pm$ 0.204}$^{\ddagger}$" in paths.latex.read_text()
    [table] = terminal_tables(read_results(folder), against="ce")
    assert [row[2].text + row[2].mark for row in table.rows] == ["1.250 ± 0.204", "1.000 ± 0.354", "0.500 ± 0.204‡"]


def test_calibrated_scores_are_in_every_file_in_the_first_table_and_not_on_the_terminal(tmp_path):
    for split in range(2):
        calibration = {"temperature": 2.0, "test": {"rps": 0.25 + split, "nll": 1.5}}
        write_run(tmp_path, method="ce", split=split, calibration=calibration)
    first, *others = wide_tables(summary(read_results(tmp_path)))
    assert (first.header[-1], first.rows[0][-1].text) == ("RPS calibrated ↓", "0.750 ± 0.707")
    assert "RPS ↓" not in first.header
    assert any("RPS ↓" in table.header for table in others)
    paths = write_tables(tmp_path)
    table = pd.read_csv(paths.csv).set_index("metric")
    assert (table.loc["rps_calibrated", "mean"], table.loc["nll_calibrated", "n"]) == (0.75, 2)
    assert "NLL calibrated ↓" in paths.markdown.read_text()
    assert r"RPS calibrated $\downarrow$" in paths.latex.read_text()
    assert not any("calibrated" in name for name in terminal_tables(read_results(tmp_path))[0].header)


def test_several_data_sets_are_a_block_each_with_a_diagram_of_ranks(tmp_path):
    for number in range(3):
        write_comparison(tmp_path / f"set{number}", FIGURES, dataset=f"set{number}")
    out = tmp_path / "together" / "here"
    paths = write_tables(*(tmp_path / f"set{number}" for number in range(3)), out=out)
    assert paths.csv.parent == out
    assert [path.name for path in paths.diagrams] == [
        "ranks-mae.png", "ranks-mae.pdf", "ranks-soi_predicted.png", "ranks-soi_predicted.pdf",
    ]  # fmt: skip
    assert all(path.stat().st_size > 1000 for path in paths.diagrams)
    titles = [line for line in paths.markdown.read_text().splitlines() if line.startswith("## ") and "," not in line]
    assert titles == ["## set0", "## set1", "## set2"]
    assert list(pd.read_csv(paths.csv)["dataset"].unique()) == ["set0", "set1", "set2"]


def test_a_folder_with_runs_of_several_data_sets_has_ranks_too(tmp_path):
    write_comparison(tmp_path, {"ce": [1.0], "elb": [0.5]}, dataset="a")
    write_run(tmp_path, method="ce", split=1, dataset="b", mae=2.0)
    write_run(tmp_path, method="elb", split=1, dataset="b", mae=1.0)
    found = rank_comparison(read_results(tmp_path), "mae")
    assert (found.methods, found.mean_ranks) == (("elb", "ce"), (1.0, 2.0))


def test_ranks_leave_out_a_method_that_lacks_a_data_set(tmp_path):
    write_comparison(tmp_path / "a", FIGURES, dataset="a")
    write_comparison(tmp_path / "b", {"ce": [1.0], "elb": [2.0]}, dataset="b")
    results = read_results(tmp_path / "a", tmp_path / "b")
    assert set(rank_comparison(results, "mae").methods) == {"ce", "elb"}
    for few in (results["dataset"] == "a", results["label"] == "ce"):
        assert rank_comparison(results[few], "mae") is None
    with pytest.raises(InputError, match=r"`metric` must be one to rank by, got 'interval_coverage'"):
        rank_comparison(results, "interval_coverage")


def test_ranks_are_by_the_splits_that_all_methods_have(tmp_path):
    write_comparison(tmp_path / "a", {"ce": [1.0, 9.0], "elb": [2.0], "mv": [3.0]}, dataset="a")  # the second is hard
    write_comparison(tmp_path / "b", {"ce": [1.0, 9.0], "elb": [2.0]}, dataset="b")
    write_run(tmp_path / "b", method="mv", split=1, dataset="b", mae=3.0)
    results = read_results(tmp_path / "a", tmp_path / "b")
    two = rank_comparison(results[results["label"] != "mv"], "mae")
    assert (two.methods, two.mean_ranks) == (("ce", "elb"), (1.0, 2.0))
    assert rank_comparison(results, "mae") is None  # on b there is no split that all three have


def test_two_folders_of_one_data_set_are_one_data_set_for_ranks(tmp_path):
    first = write_comparison(tmp_path / "first", {"ce": [1.0], "elb": [2.0]}, dataset="same")
    second = write_comparison(tmp_path / "second", {"ce": [4.0, 4.0, 4.0], "elb": [2.0]}, dataset="same")
    assert rank_comparison(read_results(first, second), "mae") is None
    assert write_tables(first, second, out=tmp_path / "together").diagrams == ()

    other = write_comparison(tmp_path / "other", {"ce": [2.0], "elb": [1.0]}, dataset="other")
    found = rank_comparison(read_results(first, second, other), "mae")
    # of `same` the means are 2.5 and 2, so that ELB is first on both data sets
    assert (found.num_datasets, found.methods, found.mean_ranks) == (2, ("elb", "ce"), (1.0, 2.0))


def test_the_terminal_shows_what_chose_the_epochs_first_and_still_fits(tmp_path):
    write_comparison(tmp_path, FIGURES, selected_by="qwk")
    tables = terminal_tables(read_results(tmp_path))
    assert tables[0].header == ("method", "runs", "QWK ↑", "error (MAE) ↓", "consistency (SOI) ↑")


@pytest.mark.bad_input
def test_places_that_cannot_be_written_to_are_refused(folder, tmp_path):
    other = write_comparison(tmp_path / "other", FIGURES)
    with pytest.raises(InputError, match="`out` must be given for tables of 2 folders"):
        write_tables(folder, other)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"`out` must be a folder, got .*file"):
        write_tables(folder, out=tmp_path / "file")


@pytest.fixture
def comparison():
    """Two good methods and two bad ones on many data sets, so that there are two groups."""
    rows = [[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]] * 10
    return compare_ranks(np.array(rows), ("ce", "mv", "pn", "elb"), higher_is_better=True)


def test_every_method_is_named_with_its_mean_rank_the_best_on_top(comparison):
    axes = critical_difference_diagram(comparison, title="SOI").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["pn  1.50", "elb  1.50", "ce  3.50", "mv  3.50"]
    assert axes.yaxis_inverted()
    assert axes.get_title(loc="left") == "SOI"
    assert f"critical difference {comparison.critical_difference:.2f}, 20 data sets" in axes.get_xlabel()


def test_bars_overlap_where_methods_are_not_told_apart(comparison):
    assert comparison.groups == (("pn", "elb"), ("ce", "mv"))
    (bars,) = critical_difference_diagram(comparison).axes[0].collections
    ends = [segment[:, 0] for segment in bars.get_segments()]
    assert ends[1][1] > ends[0][0]
    assert ends[2][0] > ends[0][1]
