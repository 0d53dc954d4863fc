from onepeak.cli.tables import print_note, print_table


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


def test_a_note_goes_to_stderr(capsys):
    print_note("by the way")
    assert capsys.readouterr() == ("", "by the way\n")
