"""Tables in LaTeX; a document needs only the package booktabs to take them in."""

from onepeak.report.wide import MINUS, UNDEFINED, Cell, WideTable

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
        rf"  \caption{{{escaped(f'{table.title}. {table.caption}')}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        r"    \toprule",
        f"    {' & '.join(escaped(name) for name in table.header)} \\\\",
        r"    \midrule",
        *(f"    {' & '.join(_cell(cell) for cell in row)} \\\\" for row in table.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Text as LaTeX has to read it to show it.

    Example:
        >>> print(escaped("soi_true 99 %"))
        soi\_true 99 \%
    """
    return text.translate(_ESCAPED)


def _cell(cell: Cell) -> str:
    text = escaped(cell.text)
    return (rf"\textbf{{{text}}}" if cell.bold else text) + escaped(cell.mark)
