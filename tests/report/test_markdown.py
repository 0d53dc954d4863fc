from onepeak.report.markdown import markdown_table
from onepeak.report.wide import Cell, WideTable


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
