import re

from onepeak.report.method_tables import Cell, WideTable
from onepeak.report.table_formats import latex_escaped, latex_table, markdown_table

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
