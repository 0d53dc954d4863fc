from onepeak.cli.busy import busy


def test_where_there_is_no_terminal_one_line_says_what_is_done(capsys):
    with busy("Exporting model"):
        assert capsys.readouterr() == ("", "Exporting model ...\n")
    assert capsys.readouterr() == ("", "")


def test_quiet_shows_nothing(capsys):
    with busy("Exporting model", quiet=True):
        pass
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_a_spinner_turns(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    with busy("Exporting model"):
        pass
    shown = capsys.readouterr().err
    assert "Exporting model" in shown
    assert "Exporting model ..." not in shown
