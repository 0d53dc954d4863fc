from dataclasses import replace

import pytest

from onepeak.cli.prediction_table import print_answers
from onepeak.serving import Row
from onepeak.serving.output import OutputColumns

ROW = Row(source="a.png", label=1, name="high", log_probs=(-1.0, -0.5), soi=1.0, unimodal=True, paradoxical=False)
BAD = Row(source="bad.png", error="there is no such file")


@pytest.fixture
def shown(monkeypatch, capsys):
    """The cells of the table, its header first, and what is printed below it."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(rows, actions=()):
        print_answers(rows, OutputColumns(source_name="path", classes=("low", "high"), actions=actions))
        lines = capsys.readouterr().out.splitlines()
        table = [line.replace("┃", "│") for line in lines if line[0] in "┃│"]
        below = [line for line in lines if line.startswith("...")]
        return [[cell.strip() for cell in line.split("│")[1:-1]] for line in table], below

    return call


def test_a_table_stops_somewhere_and_says_how_many_more_there_are(shown):
    (_, *rows), below = shown([replace(ROW, source=f"{number}.png") for number in range(1300)])
    assert [row[0] for row in rows] == [f"{number}.png" for number in range(200)]
    assert below == ["... and 1,100 more rows (--csv, --json and --out give all)."]
    assert shown([ROW] * 200)[1] == []


def test_a_row_without_an_answer_says_why(shown):
    (_, first, second), _ = shown([ROW, BAD])
    assert first == ["a.png", "high", "0.607", "", "1.000", "yes"]
    assert second[:2] == ["bad.png", "error: there is no such file"]


def test_what_is_unlike_the_training_is_a_column_only_where_there_is_something(shown):
    usual, odd = replace(ROW, unlike=()), replace(ROW, unlike=("contrast", "grain"))
    (header, *rows), _ = shown([usual, odd, BAD])
    assert (header[-1], [row[-1] for row in rows]) == ("unlike", ["", "contrast; grain", ""])
    (header, *rows), _ = shown([usual, odd], ("wait", "operate"))
    assert header[-2:] == ["action", "unlike"]
    assert [row[-2:] for row in rows] == [["operate", ""], ["operate", "contrast; grain"]]
    (header, *_), _ = shown([usual, ROW, BAD])
    assert header == ["path", "class", "p", "interval", "side order", "one peak"]
