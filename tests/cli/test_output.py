from rich.text import Text

from onepeak.cli.output import print_note, print_notes, print_results, print_table, spinner
from onepeak.experiment.results import read_results
from run_folders import write_comparison


def test_off_a_terminal_a_row_is_one_line_whatever_its_cells_hold(capsys):
    print_table(["name", "what"], [["a\tb", "two\nlines"]], title="Never printed")
    assert capsys.readouterr().out == "name\twhat\na b\ttwo lines\n"


def test_on_a_terminal_cells_are_text_and_the_title_stands_above(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    print_table(["name"], [["[red]class[/red]"]], title="Classes")
    shown = capsys.readouterr().out
    assert "[red]class[/red]" in shown
    assert "Classes" in shown


def test_results_have_tabs_off_a_terminal_and_lines_on_one(capsys, monkeypatch, tmp_path):
    for name in ("first", "second"):
        write_comparison(tmp_path / name, {"ce": [1.0, 2.0], "elb": [0.5, 0.5]}, dataset=name)
    results = read_results(tmp_path / "first", tmp_path / "second")
    print_results(results)
    assert capsys.readouterr().out.splitlines() == [
        "dataset\tmethod\truns\terror (MAE) ↓\tconsistency (SOI) ↑\tone peak ↑",
        *(
            f"{name}\t{method}\t2\t{mae}\t0.5000 ± 0.0000\t0.5000 ± 0.0000"
            for name in ("first", "second")
            for method, mae in (("ce", "1.500 ± 0.707"), ("elb", "0.500 ± 0.000"))
        ),
    ]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    print_results(results)
    shown = capsys.readouterr().out
    assert "│ first" in shown
    assert "first: Mean ± standard deviation over runs" in shown
    print_results(read_results(tmp_path / "first"))
    lines = Text.from_ansi(capsys.readouterr().out).plain.splitlines()
    assert max(len(line) for line in lines if "│" in line) <= 80
    assert "│ elb" in "".join(lines)


def test_notes_and_what_is_done_go_to_stderr_a_line_each(capsys):
    print_note("by the way")
    print_notes(["one is missing", "two are copies"])
    with spinner("Exporting model"):
        pass
    with spinner("Exporting model", quiet=True):
        pass
    told = "by the way\nNote: one is missing\nNote: two are copies\nExporting model ...\n"
    assert capsys.readouterr() == ("", told)
