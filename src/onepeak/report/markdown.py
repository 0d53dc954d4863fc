"""Tables in Markdown, as GitHub and most editors show them."""

from collections.abc import Iterable

from onepeak.report.wide import Cell, WideTable


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
        f"## {escaped(table.title)}",
        "",
        _line(escaped(name) for name in table.header),
        "|:---|" + "---:|" * (len(table.header) - 1),
        *(_line(_cell(cell) for cell in row) for row in table.rows),
        "",
        escaped(table.caption),
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    Example:
        >>> print(escaped("a|b *"))
        a\|b \*
    """
    return "".join(f"\\{character}" if character in r"\`*_|<>[]" else character for character in text)


def _cell(cell: Cell) -> str:
    text = escaped(cell.text)
    return (f"**{text}**" if cell.bold else text) + escaped(cell.mark)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
