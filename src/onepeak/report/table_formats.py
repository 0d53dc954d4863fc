"""Tables in LaTeX, which needs only the package booktabs, and in Markdown."""

from collections.abc import Iterable

from onepeak.report.method_tables import MINUS, UNDEFINED, Cell, WideTable

_ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "±": r"$\pm$", MINUS: r"$-$",
        UNDEFINED: "--", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "*": r"$^{*}$", "†": r"$^{\dagger}$",
        "‡": r"$^{\ddagger}$",
        "[": "{[}",  # after the end of a row it would begin an option
    }
)  # fmt: skip


def latex_table(table: WideTable) -> str:
    """A table environment with its caption."""
    lines = [
        r"\begin{table}[htbp]",
        r"  \centering",
        rf"  \caption{{{latex_escaped(f'{table.title}. {table.caption}')}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        r"    \toprule",
        f"    {' & '.join(latex_escaped(name) for name in table.header)} \\\\",
        r"    \midrule",
        *(f"    {' & '.join(_cell(cell) for cell in row)} \\\\" for row in table.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex_escaped(text: str) -> str:
    r"""Text as LaTeX has to read it to show it.

    Example:
        >>> print(latex_escaped("soi_true 99 %"))
        soi\_true 99 \%
    """
    return text.translate(_ESCAPED)


def _cell(cell: Cell) -> str:
    text = latex_escaped(cell.text)
    return (rf"\textbf{{{text}}}" if cell.bold else text) + latex_escaped(cell.mark)


def markdown_table(table: WideTable) -> str:
    """A heading, the table and its caption.

    Example:
        >>> row = (Cell(text="elb"), Cell(text="0.5", bold=True))
        >>> print(markdown_table(WideTable(title="iciar", header=("method", "mae"), rows=(row,), caption="One run.")))
        ## iciar
        <BLANKLINE>
        | method | mae |
        |:---|---:|
        | elb | **0.5** |
        <BLANKLINE>
        One run.
        <BLANKLINE>
    """
    lines = [
        f"## {markdown_escaped(table.title)}",
        "",
        _line(markdown_escaped(name) for name in table.header),
        "|:---|" + "---:|" * (len(table.header) - 1),
        *(_line(_cell_markdown(cell) for cell in row) for row in table.rows),
        "",
        markdown_escaped(table.caption),
    ]
    return "\n".join(lines) + "\n"


def markdown_escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    Example:
        >>> print(markdown_escaped("a|b *"))
        a\|b \*
    """
    return "".join(f"\\{character}" if character in r"\`*_|<>[]" else character for character in text)


def _cell_markdown(cell: Cell) -> str:
    text = markdown_escaped(cell.text)
    return (f"**{text}**" if cell.bold else text) + markdown_escaped(cell.mark)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
