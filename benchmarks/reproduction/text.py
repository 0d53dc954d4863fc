"""Formats figures and tables for the pages."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from onepeak.errors import InputError
from reproduction.records import Figure

MISSING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
_BLOCK = re.compile(r"(<!-- made: ([a-z-]+) -->\n).*?(<!-- end of made -->)", re.DOTALL)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Formats a table in Markdown.

    Example:
        >>> print(table(("method", "MAE"), [("CE", "7.79")]))
        | method | MAE |
        |---|---|
        | CE | 7.79 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"|{'|'.join(line)}|" if line[0] == "---" else f"| {' | '.join(line)} |" for line in lines)


def number(value: float, digits: int, *, signed: bool = False) -> str:
    """Formats a number with that many decimals.

    Example:
        >>> number(1.234, 2), number(0.5, 1, signed=True), number(-0.01, 1), number(float("nan"), 2) == MISSING
        ('1.23', '+0.5', '0.0', True)
    """
    if math.isnan(value):
        return MISSING
    return f"{value:{'+' if signed else ''}z.{digits}f}".replace("-", MINUS)


def spread(found: Figure | None, digits: int, *, scale: float = 1.0, with_runs: bool = True) -> str:
    """Formats a mean with its deviation and, if asked for, the number of runs.

    Example:
        >>> spread(Figure(mean=0.99, std=0.012, n=3), 1, scale=100), spread(Figure(mean=1.0, std=float("nan"), n=1), 2)
        ('99.0 ± 1.2 (3)', '1.00 (1)')
        >>> spread(Figure(mean=0.99, std=0.012, n=3), 1, scale=100, with_runs=False)
        '99.0 ± 1.2'
    """
    if found is None:
        return MISSING
    deviation = "" if math.isnan(found.std) else f" ± {number(scale * found.std, digits)}"
    runs = f" ({found.n})" if with_runs else ""
    return f"{number(scale * found.mean, digits)}{deviation}{runs}"


def p_value(value: float) -> str:
    """Formats a p-value with three decimals and without a leading zero.

    Example:
        >>> p_value(0.0301), p_value(0.00002), p_value(float("nan")) == MISSING
        ('.030', '< .001', True)
    """
    if math.isnan(value):
        return MISSING
    return "< .001" if value < 0.001 else f"{value:.3f}".replace("0.", ".", 1)


def filled(page: str, makers: Mapping[str, Callable[[], str]]) -> str:
    r"""Fills the text between a page's marks.

    Args:
        page: Markdown with marks such as `<!-- made: table -->` and `<!-- end of made -->` on lines of their own.
        makers: Functions that make the text, by name; only those that the page asks for are called.

    Example:
        >>> print(filled("<!-- made: n -->\nold\n<!-- end of made -->", {"n": lambda: "new"}))
        <!-- made: n -->
        <BLANKLINE>
        new
        <BLANKLINE>
        <!-- end of made -->
    """
    for _, name, _ in _BLOCK.findall(page):
        if name not in makers:
            raise InputError(f"A page asks for {name!r}, which is not made. Known: {', '.join(makers)}.")
    return _BLOCK.sub(lambda found: f"{found[1]}\n{makers[found[2]]()}\n\n{found[3]}", page)
